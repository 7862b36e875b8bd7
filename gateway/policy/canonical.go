package policy

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// canonical appends a JSON value in the form that digests are made of: no space, members in the order of their names, texts with
// the escapes that they need and no others, and numbers as exact decimals, so that 1, 1.0 and 1e0 are the same, and 2^53 and
// 2^53+1 are not. The value must be valid JSON.
func canonical(dst, raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	switch {
	case jsonrpc.IsObject(raw):
		type member struct {
			name  string
			value []byte
		}
		var members []member
		for name, value := range jsonrpc.Members(raw) {
			members = append(members, member{name, value})
		}
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = canonical(append(jsonrpc.AppendString(dst, m.name), ':'), m.value)
		}
		return append(dst, '}')
	case jsonrpc.IsArray(raw):
		dst = append(dst, '[')
		first := true
		for e := range jsonrpc.Elements(raw) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = canonical(dst, e)
		}
		return append(dst, ']')
	case jsonrpc.IsString(raw):
		text, _ := jsonrpc.Text(raw)
		return jsonrpc.AppendString(dst, text)
	case len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'):
		return append(dst, decimal(string(raw))...)
	}
	return append(dst, raw...)
}

// decimal is a number as its digits without zeros around them and the power of ten that they are to be taken times.
func decimal(token string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(token), "e")
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	power := int64(0)
	if exponent != "" {
		var err error
		if power, err = strconv.ParseInt(exponent, 10, 32); err != nil { // beyond all measure: it stands for itself
			return token
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	significant := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(significant))
	if power == 0 {
		return sign + significant
	}
	return sign + significant + "e" + strconv.FormatInt(power, 10)
}
