package manager

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// OAuth is what an entry says about signing in, under "oauth", or under "auth" as Cursor has it. Its values may be secret:
// String, GoString and LogValue show none of them. Package manager/signin acts on it.
//
// The keys in the words of the hosts: clientId, clientSecret, scopes (a list, or one text with spaces; also scope and
// oauthScopes), callbackPort, redirectUri, authServerMetadataUrl, issuer or authorizationServer, clientMetadataUrl, enabled;
// in Cursor's object CLIENT_ID and CLIENT_SECRET; client_id and the like for all of them. Others stay in Raw. "oauth": false
// and "enabled": false mean that nobody signs in; true, and "auth": "oauth", that all of it is found out.
type OAuth struct {
	Off bool // nobody signs in at this server

	ClientID     string   // of a client that the authorization server knows; empty where one is to be registered
	ClientSecret string   // of it, where it has one
	Scopes       []string // to ask for

	// CallbackPort and CallbackPath are where the browser is sent back to on this machine. Zero and empty mean any port, and
	// the usual path. CallbackHost is localhost or 127.0.0.1, whichever was registered; hosts that have a fixed port all
	// register localhost.
	CallbackHost string
	CallbackPort int
	CallbackPath string

	Issuer            string // the authorization server to use; empty means the one that the MCP server names
	MetadataURL       string // where its metadata is, in place of the usual address
	ClientMetadataURL string // a document that describes the client, and is its id

	Raw json.RawMessage // the object as plain JSON, unknown keys included, variables not put in
}

var (
	_ fmt.GoStringer = OAuth{}
	_ slog.LogValuer = OAuth{}
)

// String names the client only.
func (o OAuth) String() string { return fmt.Sprintf("oauth of client %q", o.ClientID) }

// GoString shows what String shows.
func (o OAuth) GoString() string { return o.String() }

// LogValue shows what String shows.
func (o OAuth) LogValue() slog.Value { return slog.StringValue(o.String()) }

// oauth reads what an entry says about signing in; nil when it says nothing.
func (r *entryReader) oauth(entry *Value) *OAuth {
	v := optional(entry.Member("oauth"))
	if other := optional(entry.Member("auth")); v == nil && (other.Kind() == Object || other.Text() == "oauth") {
		v = other
	}
	switch v.Kind() {
	case "":
		return nil
	case Boolean:
		return &OAuth{Off: v.text == "false", Raw: v.Raw()}
	case Text:
		if v.name == "auth" {
			return &OAuth{Raw: v.Raw()}
		}
		fallthrough
	default:
		r.fail(v, "this must be an object, or true or false, not %s", v.kind)
		return nil
	case Object:
	}
	o := &OAuth{
		ClientID: r.text(r.one(v, "clientId")), ClientSecret: r.text(r.one(v, "clientSecret")),
		Scopes: r.scopes(r.one(v, "scopes", "scope", "oauthScopes")), CallbackPort: r.port(r.one(v, "callbackPort", "redirectPort")),
		Issuer:      r.secure(r.one(v, "issuer", "authorizationServer", "authorizationServerUrl")),
		MetadataURL: r.secure(r.one(v, "authServerMetadataUrl")), ClientMetadataURL: r.secure(r.one(v, "clientMetadataUrl")), Raw: v.Raw(),
	}
	if enabled := r.one(v, "enabled"); enabled != nil {
		o.Off = !r.boolean(enabled)
	}
	if o.CallbackPort > 0 {
		o.CallbackHost = "localhost"
	}
	r.redirect(o, r.one(v, "redirectUri"))
	if o.ClientSecret != "" && o.ClientID == "" && !r.failed {
		r.fail(r.one(v, "clientSecret"), "a secret without a client says nothing; add the clientId")
	}
	return o
}

// one finds the member under one of several names, in any of the spellings of hosts.
func (r *entryReader) one(v *Value, names ...string) *Value {
	var found *Value
	for _, child := range v.children {
		for _, name := range names {
			if fold(child.name) != fold(name) || child.kind == Null {
				continue
			}
			if found != nil {
				r.fail(child, "this says the same as %s; keep one", quoteKey(found.name))
				continue
			}
			found = child
		}
	}
	return found
}

// scopes reads a list, or one text with spaces between them.
func (r *entryReader) scopes(v *Value) []string {
	if v.Kind() == Text {
		return strings.Fields(r.text(v))
	}
	return r.texts(v)
}

func (r *entryReader) port(v *Value) int {
	if v == nil {
		return 0
	}
	n, err := strconv.ParseUint(v.text, 10, 16)
	if v.kind != Number || err != nil || n == 0 {
		r.fail(v, "this must be a port, a number from 1 to 65535")
	}
	return int(n)
}

// secure reads an address that is asked for over TLS, on this machine perhaps without.
func (r *entryReader) secure(v *Value) string {
	text := r.text(v)
	if text == "" || r.untouched(text) {
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		r.fail(v, "this must be an address that begins with https://")
	}
	return text
}

// redirect takes the address that the browser is sent back to apart.
func (r *entryReader) redirect(o *OAuth, v *Value) {
	text := r.text(v)
	if text == "" || r.untouched(text) {
		return
	}
	u, err := url.Parse(text)
	port := uint64(0)
	if err == nil && u.Port() != "" {
		port, err = strconv.ParseUint(u.Port(), 10, 16)
	}
	switch {
	case err != nil || u.Scheme != "http" || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" || u.RawQuery != "" || u.Fragment != "":
		r.fail(v, "the browser can be sent back to this machine only; write an address such as http://localhost:8080/callback")
	case o.CallbackPort != 0 && int(port) != o.CallbackPort:
		r.fail(v, "this names another port than callbackPort; keep one")
	default:
		o.CallbackHost, o.CallbackPort, o.CallbackPath = u.Hostname(), int(port), u.Path
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
