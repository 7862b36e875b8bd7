package config

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/manager"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func read(text string) (*Config, error) { return Read(strings.NewReader(text), "f", Options{}) }

// The normal form of each file is its golden file, tells no secret, and is its own normal form.
func TestNormalForm(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	env := map[string]string{"HOME": "/home/ada", "SAME": "secret-20", "PAGE": "secret-21", "KEY": "secret-22", "CI_TOKEN": "secret-26-of-the-pipeline"}
	lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	input := func(string) (string, bool) { return "secret-23", true }
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, err := ReadFile(file, Options{Lookup: lookup, Input: input})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(got, []byte("secret-")) {
				t.Errorf("a secret is shown:\n%s", got)
			}
			compare(t, strings.TrimSuffix(file, ".json")+".golden", got)

			again, err := read(string(got))
			if err != nil {
				t.Fatalf("the normal form cannot be read: %v", err)
			}
			if twice, err := again.Marshal(); err != nil || !bytes.Equal(twice, got) {
				t.Errorf("the normal form has another: %v\n%s", err, twice)
			}
		})
	}
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWrongSettings(t *testing.T) {
	const duration = `this must be a duration above zero and up to 24h, such as "30s" or "2m"`
	for _, tc := range []struct{ section, want string }{
		{`[]`, "f:1:12: gateway: this must be an object, not a list"},
		{`{"lisen":"x"}`, "f:1:21: gateway.lisen: this key is not known; did you mean listen?"},
		{`{"pagesize":1}`, "f:1:24: gateway.pagesize: this key is not known; did you mean pageSize?"},
		{`{"wholly":1}`, "f:1:22: gateway.wholly: this key is not known; known are listen, path, allowedHosts, allowedOrigins, insecure, auth, prefix, separator, maxNameLength, connectTimeout, listTimeout, callTimeout, totalTimeout, startWait, pool, pageSize, requireAll, stateKeys, secrets, onDown, audit, policy, roots, serveAll, bundles, search, extensions, servers"},
		{`{"listen":8421}`, "f:1:22: gateway.listen: this must be text in quotes, not a number"},
		{`{"listen":"8421"}`, "f:1:22: gateway.listen: this must be host:port, such as 127.0.0.1:8421"},
		{`{"listen":"h:http"}`, "f:1:22: gateway.listen: the port must be a number from 0 to 65535"},
		{`{"listen":"h:65536"}`, "f:1:22: gateway.listen: the port must be a number from 0 to 65535"},
		{`{"listen":"http://h:80"}`, "f:1:22: gateway.listen: this must be host:port, such as 127.0.0.1:8421"},
		{`{"listen":"a b:80"}`, "f:1:22: gateway.listen: the host must be a name or an IP address"},
		{`{"path":"mcp"}`, "f:1:20: gateway.path: this must be a plain path such as /mcp"},
		{`{"path":"/a/../b"}`, "f:1:20: gateway.path: this must be a plain path such as /mcp"},
		{`{"path":"/"}`, "f:1:20: gateway.path: the root belongs to the console; choose a path such as /mcp"},
		{`{"allowedHosts":"h"}`, "f:1:28: gateway.allowedHosts: this must be a list, not text in quotes"},
		{`{"allowedHosts":["h",1]}`, "f:1:33: gateway.allowedHosts[1]: this must be text in quotes, not a number"},
		{`{"allowedHosts":["http://h"]}`, "f:1:29: gateway.allowedHosts[0]: this must be a host name or host:port without scheme and path, such as mcp.example.com"},
		{`{"allowedHosts":["h:x"]}`, "f:1:29: gateway.allowedHosts[0]: the port must be a number from 0 to 65535"},
		{`{"allowedHosts":["*"]}`, "f:1:29: gateway.allowedHosts[0]: this must be a host name or host:port without scheme and path, such as mcp.example.com"},
		{`{"allowedOrigins":["h"]}`, "f:1:31: gateway.allowedOrigins[0]: this must be scheme://host or scheme://host:port without a path, such as https://app.example.com"},
		{`{"allowedOrigins":["http://h/"]}`, "f:1:31: gateway.allowedOrigins[0]: this must be scheme://host or scheme://host:port without a path, such as https://app.example.com"},
		{`{"prefix":"sometimes"}`, `f:1:22: gateway.prefix: the mode "sometimes" is not known; write collision, always or never`},
		{`{"prefix":""}`, `f:1:22: gateway.prefix: the mode is empty; write collision, always or never`},
		{`{"separator":"."}`, `f:1:25: gateway.separator: the separator "." cannot be used; write 1 to 4 of '_' and '-'`},
		{`{"separator":""}`, `f:1:25: gateway.separator: the separator is empty; write 1 to 4 of '_' and '-'`},
		{`{"maxNameLength":15}`, `f:1:29: gateway.maxNameLength: the maximum length 15 cannot be used; write 16 to 128, or 0 for none`},
		{`{"maxNameLength":64.5}`, `f:1:29: gateway.maxNameLength: this must be a whole number`},
		{`{"connectTimeout":15}`, `f:1:30: gateway.connectTimeout: this must be a duration with its unit, such as "30s", not a number`},
		{`{"listTimeout":"0s"}`, "f:1:27: gateway.listTimeout: " + duration},
		{`{"callTimeout":"soon"}`, "f:1:27: gateway.callTimeout: " + duration},
		{`{"totalTimeout":"25h"}`, "f:1:28: gateway.totalTimeout: " + duration},
		{`{"startWait":"0s"}`, "f:1:25: gateway.startWait: " + duration},
		{`{"pageSize":0}`, "f:1:24: gateway.pageSize: the page size must be from 1 to 10000"},
		{`{"search":[]}`, "f:1:22: gateway.search: this must be an object, not a list"},
		{`{"search":{"mode":"find"}}`, `f:1:30: gateway.search.mode: the mode "find" is not known; write search or off`},
		{`{"search":{"above":0}}`, "f:1:31: gateway.search.above: this must be from 1 to 100000000; leave it out for no bound"},
		{`{"search":{"always":[""]}}`, "f:1:33: gateway.search.always[0]: a pattern is a name of 1 to 1024 characters in which * stands for any run of them, such as delete_*"},
		{`{"requireAll":"yes"}`, "f:1:26: gateway.requireAll: this must be true or false, not text in quotes"},
		{`{"extensions":["x"]}`, `f:1:27: gateway.extensions[0]: extension identifier "x" needs a prefix, one slash and a name, such as com.example/feature`},
		{`{"extensions":["io.modelcontextprotocol/ui"]}`, "f:1:27: gateway.extensions[0]: the gateway knows io.modelcontextprotocol/ui and passes it on anyway; remove it"},
		{`{"roots":"file:///a"}`, "f:1:21: gateway.roots: this must be a list, not text in quotes"},
		{`{"roots":["/a"]}`, "f:1:22: gateway.roots[0]: this must be the address of a folder or file, such as file:///home/me/project"},
		{`{"roots":["file:///a?b"]}`, "f:1:22: gateway.roots[0]: this must be the address of a folder or file, such as file:///home/me/project"},
		{`{"roots":[7]}`, `f:1:22: gateway.roots[0]: a root is text such as "file:///home/me/project", or an object with uri and name, not a number`},
		{`{"roots":[{"name":"a"}]}`, `f:1:22: gateway.roots[0]: a root needs a uri, such as "file:///home/me/project"`},
		{`{"roots":[{"uri":"file:///a","nam":"a"}]}`, "f:1:47: gateway.roots[0].nam: this key is not known; did you mean name?"},
		{`{"servers":{"alpha":{"roots":["http://a"]}}}`, "f:1:42: gateway.servers.alpha.roots[0]: this must be the address of a folder or file, such as file:///home/me/project"},
		{`{"servers":[]}`, "f:1:23: gateway.servers: this must be an object, not a list"},
		{`{"servers":{"alphaa":{}}}`, "f:1:33: gateway.servers.alphaa: there is no server of this name in the file; did you mean alpha?"},
		{`{"servers":{"alpha":{"allias":"x"}}}`, "f:1:42: gateway.servers.alpha.allias: this key is not known; did you mean alias?"},
		{`{"servers":{"alpha":{"share":"some"}}}`, `f:1:41: gateway.servers.alpha.share: write all, principal or session; leave the key out to share where that is safe`},
		{`{"servers":{"alpha":{"share":""}}}`, `f:1:41: gateway.servers.alpha.share: write all, principal or session; leave the key out to share where that is safe`},
		{`{"pool":{"most":0}}`, `f:1:28: gateway.pool.most: this must be a number of connections from 1 to 100000`},
		{`{"pool":{"each":1}}`, `f:1:28: gateway.pool.each: this key is not known; known are most, mostPerServer, callerShare, idle`},
		{`{"pool":{"callerShare":101}}`, `f:1:35: gateway.pool.callerShare: this must be a percentage from 1 to 100: of most and of mostPerServer, that one caller may have`},
		{`{"servers":{"alpha":{"alias":"x y"}}}`, `f:1:41: gateway.servers.alpha.alias: the alias "x y" of server "alpha" cannot be used; write 1 to 32 letters, digits, '_' and '-'`},
		{`{"servers":{"alpha":{"alias":"beta"}}}`, `f:1:41: gateway.servers.alpha.alias: the alias "beta" of server "alpha" already stands for server "beta"; choose another`},
		{`{"servers":{"alpha":{"alias":"x"},"beta":{"alias":"x"}}}`, `f:1:62: gateway.servers.beta.alias: the alias "x" of server "beta" already stands for server "alpha"; choose another`},
		{`{"path":1,"listen":2}`, "f:1:20: gateway.path: this must be text in quotes, not a number\nf:1:31: gateway.listen: this must be text in quotes, not a number"},
	} {
		c, err := read(`{"gateway":` + tc.section + `,"mcpServers":{"alpha":{"command":"x"},"beta":{"command":"y"}}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.section, c, err, tc.want)
		}
	}
}

func TestBadEntriesDoNotHideGoodOnes(t *testing.T) {
	c, err := read(`{"mcpServers":{"a":{"command":"x"},"b":{}},
		"gateway":{"servers":{"a":{"alias":"one"},"b":{"alias":"two"}}}}`)
	if _, ok := errors.AsType[*manager.ConfigErrors](err); !ok || c == nil || len(c.Servers) != 1 {
		t.Fatalf("got %v, %v", c, err)
	}
	if want := map[string]string{"a": "one"}; !maps.Equal(c.Naming.Aliases, want) {
		t.Errorf("aliases %v, want %v", c.Naming.Aliases, want)
	}
	if c, err := read(`{"mcpServers":{"a":{}},"gateway":{"x":1}}`); c != nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("both wrong: %v, %v", c, err)
	}
	if c, err := read(`{"gateway":{},"gateway":{}}`); c != nil || err == nil {
		t.Errorf("a section twice: %v, %v", c, err)
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.json"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestRootMapBesideTheSection(t *testing.T) {
	c, err := read(`{"gateway":{"pageSize":7},"a":{"command":"x"}}`)
	if err != nil || c.PageSize != 7 || len(c.Servers) != 1 || c.Servers[0].Name != "a" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestServersAreBounded(t *testing.T) {
	entries := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat("n", i%100+1) + strings.Repeat("m", i/100))
			b.WriteString(`":{"command":"x"},"`)
		}
		return `{"mcpServers":{"` + b.String() + `last":{"command":"x"}}}`
	}
	if _, err := read(entries(maxServers - 1)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if c, err := read(entries(maxServers)); c != nil || err == nil || !strings.Contains(err.Error(), "more than 1000 servers") {
		t.Errorf("above the limit: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		seed, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(seed))
	}
	f.Fuzz(func(t *testing.T, in string) {
		c, err := read(in)
		if c == nil {
			if err == nil {
				t.Fatal("neither a configuration nor an error")
			}
			return
		}
		normal, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(string(normal))
		if err != nil {
			t.Fatalf("the normal form cannot be read: %v\n%s", err, normal)
		}
		if twice, err := again.Marshal(); err != nil || !bytes.Equal(twice, normal) {
			t.Fatalf("the normal form has another: %v\n%s\n%s", err, normal, twice)
		}
	})
}
