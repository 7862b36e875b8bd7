package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// Marshal writes the normal form: JSON with every setting in a fixed order, servers in the order of the file under
// mcpServers, and an end of line.
//
// Texts are shown as they stand in the file, with variables not put in. What may be secret becomes "***": values of
// env and headers (a lone ${VAR} is shown), secrets and unknown values of oauth, defaults of variables, and of addresses the
// user part, values in the query and long path segments. Of args it masks what looks like a secret, which is a guess.
func (c *Config) Marshal() ([]byte, error) {
	servers := make(ordered, len(c.Servers))
	for i, s := range c.Servers {
		servers[i] = member{s.Name, normalServerOf(s)}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(ordered{{sectionKey, c.normalSection()}, {"mcpServers", servers}}); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return b.Bytes(), nil
}

// ordered is an object whose members keep their order.
type ordered []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members one after the other.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (c *Config) normalSection() ordered {
	servers := ordered{}
	for _, s := range c.Servers {
		if own := c.normalPerServer(s.Name); own != nil {
			servers = append(servers, member{s.Name, own})
		}
	}
	return ordered{
		{"listen", c.Listen},
		{"path", c.Path},
		{"allowedHosts", list(c.AllowedHosts)},
		{"allowedOrigins", list(c.AllowedOrigins)},
		{"insecure", c.Insecure},
		{"auth", c.normalAuth()},
		{"prefix", c.Naming.Mode},
		{"separator", c.Naming.Separator},
		{"maxNameLength", c.Naming.MaxLength},
		{"connectTimeout", duration(c.ConnectTimeout)},
		{"listTimeout", duration(c.ListTimeout)},
		{"callTimeout", duration(c.CallTimeout)},
		{"totalTimeout", duration(c.TotalTimeout)},
		{"startWait", duration(c.StartWait)},
		{"pool", c.Pool.normal()},
		{"pageSize", c.PageSize},
		{"requireAll", c.RequireAll},
		{"stateKeys", list(c.StateKeys.show())},
		{"secrets", c.normalSecrets()},
		{"onDown", c.OnDown},
		{"audit", c.normalAudit()},
		{"policy", c.normalPolicy()},
		{"roots", normalRoots(c.Roots)},
		{"extensions", list(c.Extensions)},
		{"serveAll", c.ServeAll},
		{"bundles", c.normalBundles()},
		{"search", c.normalSearch()},
		{"servers", servers},
	}
}

// list writes an empty list as [].
func list(texts []string) []string { return append([]string{}, texts...) }

// duration writes "1m0s" as "1m".
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// normalServer is one entry; what it does not have is left out.
type normalServer struct {
	Type          manager.Transport `json:"type"`
	Command       string            `json:"command,omitempty"`
	Args          []string          `json:"args,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	EnvFile       string            `json:"envFile,omitempty"`
	Dir           string            `json:"cwd,omitempty"`
	URL           string            `json:"url,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Timeout       string            `json:"timeout,omitempty"`
	Disabled      bool              `json:"disabled"`
	DisabledTools []string          `json:"disabledTools,omitempty"`
	AutoApprove   []string          `json:"autoApprove,omitempty"`
	OAuth         any               `json:"oauth,omitempty"`
	Icon          json.RawMessage   `json:"icon,omitempty"`
	Description   string            `json:"description,omitempty"`
}

func normalServerOf(s manager.Server) normalServer {
	raw := func(key string) string { return maskDefaults(s.Value.Member(key).Text()) }
	n := normalServer{
		Type: s.Transport, Disabled: s.Disabled, Description: s.Description, Icon: s.Icon,
		DisabledTools: s.DisabledTools, AutoApprove: s.AutoApprove,
		Env: maskAll(s.Value.Member("env")), Headers: maskAll(s.Value.Member("headers")),
	}
	if s.Transport == manager.Stdio {
		n.Command, n.EnvFile, n.Args = raw("command"), present(s.EnvFile, raw("envFile")), maskArgs(s.Value.Member("args"))
		n.Dir = present(s.Dir, raw("cwd"))
	} else {
		n.URL = maskURL(addressOf(s.Value))
	}
	if s.Timeout > 0 {
		n.Timeout = duration(s.Timeout)
	}
	if s.OAuth != nil {
		n.OAuth = maskOAuth(s.Value)
	}
	return n
}

// maskOAuth gives what an entry says about signing in, as it stands there, under oauth or auth.
func maskOAuth(entry *manager.Value) any {
	v := entry.Member("oauth")
	if v == nil || v.Kind() == manager.Null {
		v = entry.Member("auth")
	}
	if v.Kind() != manager.Object {
		return v.Text() != "false"
	}
	shown := ordered{}
	for _, child := range v.Children() {
		shown = append(shown, member{child.Name(), maskMember(child)})
	}
	return shown
}

var shownOfOAuth = regexp.MustCompile(`(?i)^(client_?id|(oauth_?)?scopes?|issuer|.*(url|uri|server))$`)

// maskMember gives one member of what an entry says about signing in.
func maskMember(v *manager.Value) any {
	shown := shownOfOAuth.MatchString(v.Name())
	switch {
	case v.Kind() == manager.Number, v.Kind() == manager.Boolean, v.Kind() == manager.Null:
		return v.Raw()
	case v.Kind() == manager.List && shown:
		out := []string{}
		for _, child := range v.Children() {
			out = append(out, maskDefaults(child.Text()))
		}
		return out
	case v.Kind() == manager.Text && shown && strings.Contains(v.Text(), "://"):
		return maskURL(v.Text())
	case v.Kind() == manager.Text && shown:
		return maskDefaults(v.Text())
	}
	if v.Kind() != manager.Text {
		return mask
	}
	return maskValue(v.Text())
}

// present gives shown unless the value is not there: the text of null is not a value.
func present(value, shown string) string {
	if value == "" {
		return ""
	}
	return shown
}

func addressOf(v *manager.Value) string {
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		if address := v.Member(key); address.Kind() == manager.Text {
			return address.Text()
		}
	}
	return ""
}
