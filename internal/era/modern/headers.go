package modern

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Values that a header cannot hold as they are travel as =?base64?...?=. Spec 2026-07-28, basic/transports,
// streamable-http, "Value Encoding".
const (
	sentinelOpen  = "=?base64?"
	sentinelClose = "?="
)

// EncodeHeader gives a value the form it has in a mirrored header: as it is when it is printable ASCII without a space at
// either end and no sentinel itself, else in base64.
func EncodeHeader(value string) string {
	if isPlain(value) {
		return value
	}
	return sentinelOpen + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelClose
}

func isPlain(value string) bool {
	for i := 0; i < len(value); i++ {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return !strings.HasPrefix(value, " ") && !strings.HasSuffix(value, " ") && !isSentinel(value)
}

func isSentinel(value string) bool {
	return len(value) >= len(sentinelOpen)+len(sentinelClose) &&
		strings.HasPrefix(value, sentinelOpen) && strings.HasSuffix(value, sentinelClose)
}

// DecodeHeader reads a mirrored header: white space around it goes, a sentinel is decoded, everything else is taken as it
// is. False means a sentinel that is no canonical padded base64 or no UTF-8, or a value with characters that a header may
// not hold in the clear: a server has to refuse those even when the body says the same.
func DecodeHeader(value string) (string, bool) {
	value = strip(value)
	if !isSentinel(value) {
		return value, isClear(value)
	}
	code := value[len(sentinelOpen) : len(value)-len(sentinelClose)]
	if strings.ContainsAny(code, "\r\n") { // which the decoder would skip
		return "", false
	}
	text, err := base64.StdEncoding.Strict().DecodeString(code)
	return string(text), err == nil && utf8.Valid(text)
}

// isClear tells whether a header may hold a value as it is: visible ASCII, spaces and tabs.
func isClear(value string) bool {
	for i := 0; i < len(value); i++ {
		if c := value[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

func strip(value string) string { return strings.Trim(value, " \t") }

// checkMethod compares Mcp-Method with the body: row 5.
func checkMethod(h era.Headers, method string) *era.Refusal {
	value, present := h.Header(era.HeaderMethod)
	if value = strip(value); !present || value != method {
		return era.Mismatch(era.RowMethodHeader, era.HeaderMethod, value, present, method)
	}
	return nil
}

// CheckNoticeMethod compares Mcp-Method with a notification, for which the header may be missing: row 5.
func CheckNoticeMethod(h era.Headers, method string) *era.Refusal {
	if _, present := h.Header(era.HeaderMethod); !present {
		return nil
	}
	return checkMethod(h, method)
}

// checkName compares Mcp-Name with the body: row 8. A body value that is no string has no header; the parameters are
// judged later.
func checkName(h era.Headers, m *jsonrpc.Message, param string) *era.Refusal {
	raw, ok := paramOf(m, param)
	if !ok || raw[0] != '"' {
		return nil
	}
	value, present := h.Header(era.HeaderName)
	value = strip(value)
	if present && isClear(value) && !isSentinel(value) && bytes.IndexByte(raw, '\\') < 0 && string(raw[1:len(raw)-1]) == value {
		return nil
	}
	body, _ := jsonrpc.Text(raw)
	decoded, valid := DecodeHeader(value)
	switch {
	case present && !valid:
		return era.Mismatch(era.RowName, era.HeaderName, value, true, EncodeHeader(body))
	case !present || decoded != body:
		return era.Mismatch(era.RowName, era.HeaderName, decoded, present, body)
	}
	return nil
}

// paramOf finds a parameter: most names are lifted, those of other extensions are looked up.
func paramOf(m *jsonrpc.Message, param string) ([]byte, bool) {
	switch param {
	case "name":
		return m.Lifted(era.LiftName)
	case "uri":
		return m.Lifted(era.LiftURI)
	case "taskId":
		return m.Lifted(era.LiftTaskID)
	}
	return jsonrpc.Member(m.Params, param)
}

// CallHeaders implements era.Codec: the version the request claims, its method, its name where it has one, and the
// mirrored parameters.
func (c *Codec) CallHeaders(out *era.Outgoing) [][2]string {
	headers := make([][2]string, 0, 3+len(out.Mirrors))
	headers = append(headers, [2]string{era.HeaderVersion, c.claimOf(out.Params, out.Meta)}, [2]string{era.HeaderMethod, out.Method})
	if row, _ := c.table.Look(out.Method, false, era.ServerSide); row != nil && row.NameParam != "" {
		raw, _ := jsonrpc.Member(out.Params, row.NameParam)
		if name, ok := jsonrpc.Text(raw); ok {
			headers = append(headers, [2]string{era.HeaderName, EncodeHeader(name)})
		}
	}
	return append(headers, out.Mirrors...)
}

// NoticeHeaders implements era.Codec.
func (c *Codec) NoticeHeaders(n *era.Notice) [][2]string {
	return [][2]string{{era.HeaderVersion, c.claimOf(n.Params, nil)}, {era.HeaderMethod, n.Method}}
}

// claimOf is the version a message will claim: the caller's own words win here as they do in the body.
func (c *Codec) claimOf(params, over []byte) string {
	meta, _ := jsonrpc.Member(params, "_meta")
	for _, obj := range [][]byte{over, meta} {
		if raw, ok := jsonrpc.Member(obj, mcp.MetaProtocolVersion); ok {
			if claim, ok := jsonrpc.Text(raw); ok {
				return claim
			}
		}
	}
	return c.revision
}
