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
	"github.com/rialto-mcp/rialto/mcp"
)

// Mirrors are the arguments of a tool that HTTP headers repeat, by the x-mcp-header declarations of its input schema. The
// server knows them of the tools that are registered; a [RawHandler] that answers for the tools of a [Catalogue] checks
// them by itself. Nil means none. It may be used concurrently.
type Mirrors struct{ declared []schema.HeaderParam }

// NewMirrors reads the declarations of an input schema. It answers nil when there are none, and fails when one is invalid.
func NewMirrors(inputSchema json.RawMessage) (*Mirrors, error) {
	declared, err := schema.HeaderParams(inputSchema)
	if err != nil || len(declared) == 0 {
		return nil, err
	}
	return &Mirrors{declared}, nil
}

// Check compares the Mcp-Param headers of a tools/call with its arguments. The error is for the handler to return as it is:
// the client gets -32020 with the HTTP status 400. Off HTTP and on the legacy era there is nothing to compare.
func (m *Mirrors) Check(req *Request) error {
	if m == nil || req.in.Headers == nil || !req.in.Codec.Traits().HeaderMirrors {
		return nil
	}
	if err := checkMirrors(req.in.Headers, m.declared, req.Arguments()); err != nil {
		return era.Refuse(era.RowParamHeader, err)
	}
	return nil
}

// checkMirrors compares the Mcp-Param headers of a call with the arguments they mirror. Spec 2026-07-28,
// basic/transports/streamable-http, "Custom Headers".
func checkMirrors(h era.Headers, declared []schema.HeaderParam, args json.RawMessage) *mcp.Error {
	for _, d := range declared {
		name := era.HeaderParam + d.Name
		header, sent := h.Header(name)
		decoded, readable := negotiate.DecodeHeader(header)
		if !readable {
			return mcp.Errorf(mcp.CodeHeaderMismatch,
				"the header %s holds a base64 form that cannot be read, or characters that have to be sent in that form", name)
		}
		value, ok := d.In(args)
		if !ok || string(value) == "null" || value[0] == '{' || value[0] == '[' {
			continue // without a value there is nothing to mirror; a wrong type is the schema's to refuse
		}
		if !sent {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is missing; it must mirror the argument %q", name, d.Path[len(d.Path)-1])
		}
		if !mirrors(d, decoded, value) {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s differs from the argument %q", name, d.Path[len(d.Path)-1])
		}
	}
	return nil
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
