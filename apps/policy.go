package apps

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CSP lists what a page may reach beyond itself: origins such as https://api.example.com, wss://live.example.com and
// https://*.example.com. An empty list is nothing.
type CSP struct {
	ConnectDomains  []string       `json:"connectDomains,omitzero"`  // requests and sockets
	ResourceDomains []string       `json:"resourceDomains,omitzero"` // images, scripts, styles, fonts, media
	FrameDomains    []string       `json:"frameDomains,omitzero"`    // pages inside the page
	BaseURIDomains  []string       `json:"baseUriDomains,omitzero"`  // what <base> may name
	Extra           jsontext.Value `json:",embed"`
}

// Permissions are what a page asks the browser for. A host may grant fewer.
type Permissions struct {
	Camera         *struct{}      `json:"camera,omitzero"`
	Microphone     *struct{}      `json:"microphone,omitzero"`
	Geolocation    *struct{}      `json:"geolocation,omitzero"`
	ClipboardWrite *struct{}      `json:"clipboardWrite,omitzero"`
	Extra          jsontext.Value `json:",embed"`
}

// Allow is the attribute "allow" of the frame that a page is shown in; "" when it asks for nothing.
func (p *Permissions) Allow() string {
	if p == nil {
		return ""
	}
	var features []string
	for _, f := range []struct {
		asked *struct{}
		name  string
	}{{p.Camera, "camera"}, {p.Microphone, "microphone"}, {p.Geolocation, "geolocation"}, {p.ClipboardWrite, "clipboard-write"}} {
		if f.asked != nil {
			features = append(features, f.name)
		}
	}
	return strings.Join(features, "; ")
}

// origin is what may stand in a list of CSP. Nothing in it can end a directive or begin another source.
var origin = regexp.MustCompile(`^(?:https?|wss?)://(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?/?$`)

const maxOrigins = 100 // of one list

func (c *CSP) check() error {
	if c == nil {
		return nil
	}
	for _, list := range []struct {
		name    string
		origins []string
	}{
		{"connectDomains", c.ConnectDomains}, {"resourceDomains", c.ResourceDomains},
		{"frameDomains", c.FrameDomains}, {"baseUriDomains", c.BaseURIDomains},
	} {
		if len(list.origins) > maxOrigins {
			return fmt.Errorf("%s lists %d origins, at most %d are taken", list.name, len(list.origins), maxOrigins)
		}
		for _, o := range list.origins {
			if !origin.MatchString(o) {
				return fmt.Errorf("%s lists %.200q, which is no origin such as https://api.example.com", list.name, o)
			}
		}
	}
	return nil
}

// Policy is the Content-Security-Policy that a page is shown under: nothing is reached but what c lists, and with nil nothing
// at all. It fails when a list holds something else than origins; the page is not to be shown then.
func (c *CSP) Policy() (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	join := func(first string, more []string) string { return strings.Join(append([]string{first}, more...), " ") }
	instead := func(none string, list []string) string {
		if len(list) == 0 {
			return none
		}
		return strings.Join(list, " ")
	}
	connect := "'none'"
	if c == nil {
		c = &CSP{}
	} else {
		connect = join("'self'", c.ConnectDomains)
	}
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + join("'self' 'unsafe-inline'", c.ResourceDomains),
		"style-src " + join("'self' 'unsafe-inline'", c.ResourceDomains),
		"connect-src " + connect,
		"img-src " + join("'self' data:", c.ResourceDomains),
		"font-src " + join("'self'", c.ResourceDomains),
		"media-src " + join("'self' data:", c.ResourceDomains),
		"frame-src " + instead("'none'", c.FrameDomains),
		"object-src 'none'",
		"base-uri " + instead("'self'", c.BaseURIDomains),
	}, "; "), nil
}
