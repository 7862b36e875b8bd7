package server

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// checkMirrors compares the Mcp-Param headers of a call with the arguments they mirror. Spec 2026-07-28,
// basic/transports/streamable-http, "Custom Headers".
func checkMirrors(h era.Headers, declared []schema.HeaderParam, args json.RawMessage) *mcp.Error {
	for _, d := range declared {
		value, ok := at(args, d.Path)
		if !ok || string(value) == "null" || value[0] == '{' || value[0] == '[' {
			continue // without a value there is nothing to mirror; a wrong type is the schema's to refuse
		}
		name := era.HeaderParam + d.Name
		header, ok := h.Header(name)
		if !ok {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is missing; it must mirror the argument %q", name, d.Path[len(d.Path)-1])
		}
		decoded, ok := negotiate.DecodeHeader(header)
		if !ok {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s holds a base64 form that cannot be read", name)
		}
		if !mirrors(d, decoded, value) {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s differs from the argument %q", name, d.Path[len(d.Path)-1])
		}
	}
	return nil
}

// at follows a path of property names.
func at(value json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		if len(value) == 0 || value[0] != '{' {
			return nil, false
		}
		next, ok := jsonrpc.Member(value, name)
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

var plainDecimal = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// mirrors compares as text, and integers as numbers where the header is a plain decimal.
func mirrors(d schema.HeaderParam, header string, value json.RawMessage) bool {
	if value[0] == '"' {
		return header == text(value)
	}
	if d.Type == "integer" && plainDecimal.MatchString(header) {
		a, okA := small(header)
		b, okB := small(string(value))
		if okA && okB {
			return a.Cmp(b) == 0
		}
	}
	return header == string(value)
}

// small reads a number whose exact form takes little room. This runs before the schema is looked at, and an exponent of
// nine digits would make a number of a gigabyte.
func small(number string) (*big.Rat, bool) {
	if len(number) > 64 {
		return nil, false
	}
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(number[at+1:])
		if err != nil || exponent < -64 || exponent > 64 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(number)
}
