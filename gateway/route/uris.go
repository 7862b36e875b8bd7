package route

import (
	"encoding/hex"
	"strconv"
	"strings"
)

const uriScheme = "rialto+"

// rewriteURI gives the address under which a resource or template of server is shown when its own address belongs to
// another server. A salt gives further addresses for the same thing, should somebody list the first one.
func rewriteURI(server, uri string, salt int) string {
	mark := ""
	if salt > 0 {
		mark = "+" + strconv.Itoa(salt)
	}
	return uriScheme + encodeServer(server) + mark + ":" + uri
}

// OriginalURI takes a rewritten address apart; ok is false for every other address.
func OriginalURI(exposed string) (server, uri string, ok bool) {
	scheme, uri, found := strings.Cut(exposed, ":")
	scheme = strings.ToLower(scheme) // schemes ignore case: RFC 3986, section 3.1
	encoded, ours := strings.CutPrefix(scheme, uriScheme)
	if !found || !ours {
		return "", "", false
	}
	encoded, salt, salted := strings.Cut(encoded, "+")
	if n, err := strconv.Atoi(salt); salted && (err != nil || n < 1) {
		return "", "", false
	}
	server, ok = decodeServer(encoded)
	if !ok {
		return "", "", false
	}
	return server, uri, true
}

// encodeServer writes a name with the characters of a scheme that have no case.
func encodeServer(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; isSchemeByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("." + hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

func decodeServer(encoded string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(encoded); i++ {
		if isSchemeByte(encoded[i]) {
			b.WriteByte(encoded[i])
			continue
		}
		if encoded[i] != '.' || i+2 >= len(encoded) {
			return "", false
		}
		c, err := hex.DecodeString(encoded[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	// One name has one spelling, so that no two addresses mean the same.
	return b.String(), b.Len() > 0 && encodeServer(b.String()) == encoded
}

func isSchemeByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z'
}

// assignURIs lets the first of each address keep it and rewrites the others'.
func assignURIs(items []*item) {
	first := make(map[string]*item, len(items))
	var later []*item
	for _, it := range items {
		holder, taken := first[it.Name]
		if !taken {
			it.Exposed, first[it.Name] = it.Name, it
			continue
		}
		it.others = append(it.others, holder.Server)
		later = append(later, it)
	}
	for _, it := range later {
		salt := 0
		for it.Exposed = rewriteURI(it.Server, it.Name, salt); first[it.Exposed] != nil; salt++ {
			it.Exposed = rewriteURI(it.Server, it.Name, salt+1)
		}
		first[it.Exposed] = it
	}
}
