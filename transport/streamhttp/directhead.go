package streamhttp

import (
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// baseHead writes the request line and the headers that every request by direct has, and returns the names of the latter.
// It returns nil when one of them is nothing to be written as it is: net/http then says what is wrong with it, or does
// what it asks for.
func baseHead(u *url.URL, base http.Header) (head []byte, names []string) {
	host, path := u.Host, u.RequestURI()
	if given := base["Host"]; len(given) > 0 {
		host = given[0]
	}
	if !plainHost(host) || !plainHost(u.Host) || hasControl(path) {
		return nil, nil
	}
	head = append(head, "POST "+path+" HTTP/1.1\r\n"...)
	head = appendHeader(head, "Host", host)
	all := http.Header{
		"User-Agent":      {"Go-http-client/1.1"}, // as net/http has it
		"Accept-Encoding": {"identity"},           // without one a server might use any
		"Content-Type":    jsonType,
		"Accept":          bothTypes,
	}
	maps.Copy(all, base)
	delete(all, "Host")
	names = slices.Sorted(maps.Keys(all))
	for _, name := range names {
		for _, value := range all[name] {
			switch {
			case name == "Expect" || !validName(name) || !validValue(value):
				return nil, nil
			case name == "User-Agent" && value == "": // asks for none
			default:
				head = appendHeader(head, name, textproto.TrimString(value))
			}
		}
	}
	return head, append(names, "Host", "Content-Length", "Expect", "Transfer-Encoding", "Trailer", "Upgrade", "Connection")
}

// fits tells whether a header of one message can be added to those that every request has.
func (d *direct) fits(name, value string) bool {
	return validName(name) && validValue(value) && !slices.Contains(d.names, name)
}

func appendHeader(out []byte, name, value string) []byte {
	out = append(out, name...)
	out = append(out, ": "...)
	out = append(out, value...)
	return append(out, "\r\n"...)
}

// validName tells whether a header may have a name: a token of RFC 9110, section 5.6.2.
func validName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isLetterOrDigit(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// validValue tells whether a header may have a value: no control characters but the tab, of which CR, LF and NUL would
// begin something else (RFC 9110, section 5.5).
func validValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return true
}

// plainHost tells whether a host can stand in a request as it is. Names that need IDNA and addresses with a zone cannot.
func plainHost(host string) bool {
	for i := range len(host) {
		if c := host[i]; !isLetterOrDigit(c) && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return host != "" && host[0] != ':'
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7F })
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}
