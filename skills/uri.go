package skills

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// scheme is that of all URIs this package makes.
const scheme = "skill://"

// uriOf is the URI of a path. Everything but letters, digits and -._~ is escaped, in the first segment as well, which takes
// the place of a host.
func uriOf(file string) string {
	var uri strings.Builder
	uri.WriteString(scheme)
	for i, segment := range strings.Split(file, "/") {
		if i > 0 {
			uri.WriteByte('/')
		}
		uri.WriteString(escape(segment))
	}
	return uri.String()
}

func escape(segment string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(segment) {
		c := segment[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return out.String()
}

// within tells whether a URI names a file below a folder: no query, no fragment, and no segment that is empty or, written
// in whatever way, leads elsewhere.
func within(root, uri string) bool {
	rest, ok := strings.CutPrefix(uri, root+"/")
	return ok && leadsDown(rest)
}

// leadsDown tells whether a path of a URI is segments that each name one thing below the one before.
func leadsDown(path string) bool {
	if strings.ContainsAny(path, "?#\\") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\\\x00") || !utf8.ValidString(plain) {
			return false
		}
	}
	return true
}

// types are those of files that skills are made of; the system's table differs from
// one machine to the next.
var types = map[string]string{
	".md": ManifestType, ".txt": "text/plain", ".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml",
	".csv": "text/csv", ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".xml": "application/xml",
	".py": "text/x-python", ".sh": "application/x-sh", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg",
	".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
}

// typeOf is the type of a file by its name, and by its bytes where the name tells none.
func typeOf(name string, text bool) string {
	if t, ok := types[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	if text {
		return "text/plain"
	}
	return "application/octet-stream"
}

// isText tells whether a file can travel as text without a change.
func isText(content []byte) bool {
	return utf8.Valid(content) && !strings.Contains(string(content), "\x00")
}
