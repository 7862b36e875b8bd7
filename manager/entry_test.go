package manager

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

func readEntry(t *testing.T, entry string, opts ReadOptions) (Server, error) {
	t.Helper()
	f, err := Read(strings.NewReader(`{"mcpServers":{"s":`+entry+`}}`), "f", opts)
	if err != nil {
		return Server{}, err
	}
	return f.Servers[0], nil
}

func TestEveryField(t *testing.T) {
	got, err := readEntry(t, `{"type":"stdio","command":"npx","args":["-y","s"],"env":{"A":"1","PORT":8080,"ON":true,"OFF":null},
		"envFile":".env","cwd":"/srv","timeout":30,"disabled":false,"disabledTools":["x"],"excludeTools":["y"],
		"autoApprove":["z"],"alwaysAllow":["w"],"oauth":{"clientId":"c"},"icon":"i.png","description":"d","url":null,"later":{"k":1}}`, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Raw), `"later":{"k":1}`) || string(got.OAuth.Raw) != `{"clientId":"c"}` || got.OAuth.ClientID != "c" || string(got.Icon) != `"i.png"` {
		t.Errorf("raw members: %s %s %s", got.Raw, got.OAuth.Raw, got.Icon)
	}
	got.Raw, got.OAuth, got.Icon, got.Value = nil, nil, nil, nil
	want := Server{
		Name: "s", Transport: Stdio, Command: "npx", Args: []string{"-y", "s"}, Env: map[string]string{"A": "1", "PORT": "8080", "ON": "true"},
		EnvFile: ".env", Dir: "/srv", Timeout: 30 * time.Second, DisabledTools: []string{"x", "y"}, AutoApprove: []string{"z", "w"}, Description: "d",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields differ: got command %q args %q env %v timeout %v lists %q %q", got.Command, got.Args, got.Env, got.Timeout, got.DisabledTools, got.AutoApprove)
	}
}

func TestTransport(t *testing.T) {
	for _, tc := range []struct {
		entry string
		want  Transport
	}{
		{`{"command":"x"}`, Stdio},
		{`{"url":"https://h/mcp"}`, HTTP},
		{`{"url":"https://h/sse"}`, SSE},
		{`{"url":"https://h/sse/?key=1"}`, SSE},
		{`{"url":"https://h/?next=/sse"}`, HTTP},
		{`{"url":"https://h/sse","type":"http"}`, HTTP},
		{`{"url":"https://h/mcp","type":"sse"}`, SSE},
		{`{"url":"https://h/mcp","transport":"streamable-http"}`, HTTP},
		{`{"url":"https://h/mcp","transportType":"streamableHttp"}`, HTTP},
		{`{"url":"https://h/mcp","transport":"streamable_http"}`, HTTP},
		{`{"url":"https://h/mcp","type":"http","transport":"streamableHttp"}`, HTTP},
		{`{"command":"x","type":"STDIO"}`, Stdio},
		{`{"httpUrl":"https://h/sse"}`, HTTP},
		{`{"serverUrl":"https://h/sse"}`, SSE},
		{`{"url":"unix:///run/mcp.sock"}`, HTTP},
		{`{"url":"pipe:///mcp"}`, HTTP},
		{`{"command":"x","url":"","type":""}`, Stdio},
		{`{"command":"","url":"https://h/mcp","httpUrl":null}`, HTTP},
	} {
		got, err := readEntry(t, tc.entry, ReadOptions{})
		if err != nil || got.Transport != tc.want {
			t.Errorf("%s: got %q, %v; want %q", tc.entry, got.Transport, err, tc.want)
		}
	}
}

func TestWrongEntries(t *testing.T) {
	for _, tc := range []struct{ entry, want string }{
		{`3`, "f:1:20: mcpServers.s: a server must be an object, not a number"},
		{`{}`, "f:1:20: mcpServers.s: the server has neither a command nor a url; add one"},
		{`{"command":"x","url":"http://h/"}`, "f:1:20: mcpServers.s: the server has both a command and an address; remove one, or add a type"},
		{`{"type":"stdio"}`, "f:1:20: mcpServers.s: a stdio server needs a command; add one, or give a url and type http"},
		{`{"type":"http"}`, "f:1:20: mcpServers.s: a server of type http needs a url; add one"},
		{`{"type":"http","command":"x"}`, "f:1:45: mcpServers.s.command: a server of type http has no command; remove it, or write type stdio"},
		{`{"type":"stdio","command":"x","url":"http://h/"}`, "f:1:56: mcpServers.s.url: a stdio server has no address; remove it, or write type http"},
		{`{"type":"http","transport":"sse","url":"http://h/"}`, "f:1:47: mcpServers.s.transport: type, transport and transportType disagree; keep one"},
		{`{"type":1,"url":"http://h/"}`, "f:1:28: mcpServers.s.type: this must be text in quotes, not a number"},
		{`{"url":"http://h/","httpUrl":"http://h/"}`, "f:1:49: mcpServers.s.httpUrl: httpUrl gives a second address beside url; keep one"},
		{`{"url":"ftp://user:secret@h/"}`, "f:1:27: mcpServers.s.url: the address must begin with http:// or https://"},
		{`{"url":"http://:80/"}`, "f:1:27: mcpServers.s.url: the address has no host; write one such as https://example.com/mcp"},
		{`{"url":"http://h/%zz?key=secret"}`, "f:1:27: mcpServers.s.url: this is not a URL; write one such as https://example.com/mcp"},
		{`{"command":"a\u0000"}`, "f:1:31: mcpServers.s.command: the text holds a NUL character; remove it"},
		{`{"command":"x","args":["a",null,{}]}`, "f:1:47: mcpServers.s.args[1]: this must be text in quotes, not null\nf:1:52: mcpServers.s.args[2]: this must be text in quotes, not an object"},
		{`{"command":"x","env":{"A=B":"secret"}}`, "f:1:48: mcpServers.s.env.\"A=B\": the name of a variable must not be empty nor hold '='; rename it"},
		{`{"command":"x","env":{"A":["secret"]}}`, "f:1:46: mcpServers.s.env.A: this must be text in quotes, not a list"},
		{`{"command":"x","env":["A=secret"]}`, "f:1:41: mcpServers.s.env: this must be an object of texts, not a list"},
		{`{"url":"http://h/","headers":{"a b":"secret"}}`, "f:1:56: mcpServers.s.headers.\"a b\": this is not the name of a header; use letters, digits and '-'"},
		{`{"url":"http://h/","headers":{"A":"secret\n"}}`, "f:1:54: mcpServers.s.headers.A: the value of a header must be one line; remove the line break, perhaps at the end of a variable"},
		{`{"url":"http://h/","headers":{"A":"1","a":"2"}}`, "f:1:62: mcpServers.s.headers.a: this header stands twice, in different case; keep one"},
		{`{"url":"http://h/","headers":{"A":"secret\u0001"}}`, "f:1:54: mcpServers.s.headers.A: the value of a header must hold no control characters; remove them"},
		{`{"command":"x","timeout":0}`, "f:1:45: mcpServers.s.timeout: this must be a duration above zero and up to 24h, such as \"30s\""},
		{`{"command":"x","timeout":1e300}`, "f:1:45: mcpServers.s.timeout: this must be a duration above zero and up to 24h, such as \"30s\""},
		{`{"command":"x","timeout":"soon"}`, "f:1:45: mcpServers.s.timeout: this must be a duration above zero and up to 24h, such as \"30s\""},
		{`{"command":"x","timeout":[]}`, "f:1:45: mcpServers.s.timeout: this must be a duration such as \"30s\", not a list"},
		{`{"command":"x","disabled":"yes"}`, "f:1:46: mcpServers.s.disabled: this must be true or false, not text in quotes"},
	} {
		_, err := readEntry(t, tc.entry, ReadOptions{})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got\n%v\nwant\n%s", tc.entry, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells a value", tc.entry)
		}
	}
}

func TestServerNames(t *testing.T) {
	for _, name := range []string{``, `a\u0007`, `a\u009b2J`, `a\u202eb`, `a\u2028b`, strings.Repeat("n", 129)} {
		_, err := Read(strings.NewReader(`{"mcpServers":{"`+name+`":{"command":"x"}}}`), "f", ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), "a server's name needs 1 to 128 bytes") {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestTimeoutUnits(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`60`: time.Minute, `999`: 999 * time.Second, `1000`: time.Second, `30000`: 30 * time.Second,
		`0.5`: 500 * time.Millisecond, `"1m30s"`: 90 * time.Second, `null`: 0,
	} {
		got, err := readEntry(t, `{"command":"x","timeout":`+text+`}`, ReadOptions{})
		if err != nil || got.Timeout != want {
			t.Errorf("%s: got %v, %v; want %v", text, got.Timeout, err, want)
		}
	}
}

func TestServerHidesItsValues(t *testing.T) {
	s, err := readEntry(t, `{"command":"x","args":["secret"],"env":{"K":"secret"}}`, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("read", "server", s)
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s), fmt.Sprintf("%v", []Server{s}), log.String()} {
		if strings.Contains(shown, "secret") || !strings.Contains(shown, "stdio") {
			t.Errorf("shown: %s", shown)
		}
	}
}

// TestHasAuthorization holds that the name of a header counts in any case of its letters.
func TestHasAuthorization(t *testing.T) {
	for name, want := range map[string]bool{"Authorization": true, "authorization": true, "X-Authorization": false} {
		if got := (Server{Headers: map[string]string{name: "x"}}).HasAuthorization(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
