package httpsse

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzEndpoint takes any endpoint event: what is posted to has the origin of the stream and no credentials of its own, and
// the address of the stream gives no secret away.
func FuzzEndpoint(f *testing.F) {
	for _, named := range []string{
		"/post?id=1", "post", "?id=1", "", " ", "http://h.example:8080/x", "HTTP://H.example:8080", "http://h.example/", "//evil.example/",
		`http://evil.example\@h.example:8080/`, "http://h.example:8080@evil.example/", "http://u:p@h.example:8080/#f", "http:x", "file:///x", `\\evil.example`,
	} {
		f.Add(named)
	}
	stream, err := url.Parse("http://h.example:8080/in/sse?key=hush-hush")
	if err != nil {
		f.Fatal(err)
	}
	c := &Conn{where: originOf(stream)}
	f.Fuzz(func(t *testing.T, named string) {
		endpoint, err := c.resolve(stream, named)
		if err != nil {
			if strings.Contains(err.Error(), "hush-hush") && !strings.Contains(named, "hush-hush") {
				t.Errorf("a secret: %v", err)
			}
			return
		}
		again, err := url.Parse(endpoint.String())
		if err != nil || originOf(again) != originOf(stream) || again.User != nil || again.Fragment != "" || strings.TrimSpace(named) == "" {
			t.Errorf("%q leads to %s (%v)", named, endpoint, err)
		}
	})
}
