package seal

import (
	"crypto/sha256"
	"sync"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Digest stands for what a call asks: its method, `name` or `uri`, and `arguments`. Equal digests mean equal values, however
// they were written.
type Digest [sha256.Size]byte

// digestVersion is hashed first: a change of the canonical form must change every digest.
const digestVersion = "rialto digest 1\n"

// noArguments is what absent ones count as; it is only read.
var noArguments = []byte("{}")

// maxKept bounds the scratch space that waits for the next digest, in bytes.
const maxKept = 256 << 10

var canons = sync.Pool{New: func() any { return new(canon) }}

// DigestCall computes the digest of a call. params are the raw parameters as [jsonrpc.Decode] let them through, nil when
// there are none; members other than `name`, `uri` and `arguments` do not count. Absent arguments are {}.
//
// It fails with [*SyntaxError] for what is no JSON, and for numbers whose exponent has more than 18 digits.
func DigestCall(method string, params []byte) (Digest, error) {
	c := canons.Get().(*canon)
	defer c.release()
	c.out = append(c.out[:0], digestVersion...)
	c.out = appendUint32(c.out, len(method))
	c.out = append(c.out, method...)
	name, uri, arguments := callMembers(params)
	for _, part := range [...]struct {
		tag byte
		raw []byte
	}{{'n', name}, {'u', uri}, {'a', arguments}} {
		if part.raw == nil {
			continue
		}
		c.out = append(c.out, part.tag)
		if err := c.read(part.raw); err != nil {
			return Digest{}, err
		}
	}
	return sha256.Sum256(c.out), nil
}

// callMembers finds the three members that make a call what it is.
func callMembers(params []byte) (name, uri, arguments []byte) {
	arguments = noArguments
	for f := range jsonrpc.Fields(params) {
		switch {
		case f.Is("name"):
			name = f.Value
		case f.Is("uri"):
			uri = f.Value
		case f.Is("arguments"):
			arguments = f.Value
		}
	}
	return name, uri, arguments
}

func appendUint32(dst []byte, n int) []byte {
	return append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}
