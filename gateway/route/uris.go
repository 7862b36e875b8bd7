package route

import (
	"encoding/hex"
	"strconv"
	"strings"
)

const uriMark = "rialto+"

// kept are the beginnings of addresses by which clients know what they mean: pages of apps, which hosts take under this scheme
// alone, and files of skills. The server is named in the part after them.
var kept = []string{"ui://", "skill://"}

// rewriteURI gives the address under which a resource or template of server is shown when its own address belongs to
// another server: "rialto+a:memo://x" for "memo://x" of a, and "ui://rialto+a/x" for "ui://x". A salt gives further addresses
// for the same thing, should somebody list the first one.
func rewriteURI(server, uri string, salt int) string {
	mark := uriMark + encodeServer(server)
	if salt > 0 {
		mark += "+" + strconv.Itoa(salt)
	}
	for _, scheme := range kept {
		if rest, ok := strings.CutPrefix(uri, scheme); ok {
			return scheme + mark + "/" + rest
		}
	}
	return mark + ":" + uri
}

// OriginalURI takes a rewritten address apart; ok is false for every other address.
func OriginalURI(exposed string) (server, uri string, ok bool) {
	scheme, whole, end := "", exposed, ":"
	for _, s := range kept {
		if rest, ok := strings.CutPrefix(exposed, s); ok {
			scheme, whole, end = s, rest, "/"
		}
	}
	mark, rest, found := strings.Cut(whole, end)
	mark = strings.ToLower(mark) // schemes and hosts ignore case: RFC 3986, sections 3.1 and 3.2.2
	encoded, ours := strings.CutPrefix(mark, uriMark)
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
	return server, scheme + rest, true
}

// encodeServer writes a name with the characters that a scheme and a host have and that have no case.
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
