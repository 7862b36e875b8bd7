package manager

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// servers reads entries: a first time to see what stores are to be asked for, and again with what they have given.
func (r *entryReader) servers(entries []*Value) []Server {
	problems, left := r.problems, r.expand.left
	var all []Server
	for _, r.expand.collect = range []bool{true, false} {
		all, r.problems, r.expand.left = nil, &ConfigErrors{}, left
		for _, entry := range entries {
			if s, ok := r.server(entry); ok {
				all = append(all, s)
			}
		}
		if !r.expand.stores.ask(r.expand.opts.Context) {
			break // nothing was wanted, so nothing is missing
		}
	}
	problems.Join(r.problems)
	r.problems, r.expand.collect = problems, false
	return all
}

// server reads one entry. It reports everything wrong with it; ok tells that nothing was.
func (r *entryReader) server(v *Value) (s Server, ok bool) {
	r.failed, r.name = false, v.name
	r.expand.stored = nil
	if v.kind != Object {
		r.fail(v, "a server must be an object, not %s", v.kind)
		return s, false
	}
	if v.name == "" || len(v.name) > longestVariable || strings.ContainsFunc(v.name, isControl) {
		r.fail(v, "a server's name needs 1 to %d bytes without control characters; rename it", longestVariable)
		return s, false
	}
	s = Server{Name: v.name, Raw: v.Raw(), Value: v}
	s.Disabled = r.boolean(v.Member("disabled"))
	r.plain = s.Disabled // it will not run, so its variables need not be set
	s.Command = r.text(v.Member("command"))
	s.EnvFile = r.text(v.Member("envFile"))
	s.Dir = r.text(v.Member("cwd"))
	r.expand.secrets = nil // paths are shown when they lead nowhere, but for what stores have given
	s.Args = r.texts(v.Member("args"))
	s.Env = r.textMap(v.Member("env"), checkVariable)
	s.Headers = r.textMap(v.Member("headers"), checkHeader)
	s.Timeout = r.timeout(v.Member("timeout"))
	r.plain = true
	s.DisabledTools = r.lists(v, "disabledTools", "disabled_tools", "excludeTools")
	s.AutoApprove = r.lists(v, "autoApprove", "auto_approve", "alwaysAllow")
	s.Description = r.text(v.Member("description"))
	s.Icon = optional(v.Member("icon")).Raw()
	r.plain = s.Disabled
	s.OAuth = r.oauth(v)
	r.transport(&s, v)
	s.secrets = slices.Compact(slices.Sorted(slices.Values(append(r.expand.secrets, r.expand.stored...))))
	return s, !r.failed
}

// addressKeys are the names of the address: ours first, then those of Windsurf and of Gemini CLI.
var addressKeys = []string{"url", "serverUrl", "httpUrl"}

// transport reads type and address and holds both against the command.
func (r *entryReader) transport(s *Server, v *Value) {
	var address *Value
	for _, key := range addressKeys {
		switch found := given(v.Member(key)); {
		case found == nil:
		case address != nil:
			r.fail(found, "%s gives a second address beside %s; keep one", key, address.name)
		default:
			address = found
		}
	}
	s.URL = r.text(address)
	command := given(v.Member("command"))
	s.Transport = r.kind(v)
	if s.Transport == "" {
		s.Transport = r.missingKind(v, command, address, s.URL)
	}
	switch {
	case r.failed:
	case s.Transport == Stdio && s.Command == "":
		r.fail(v, "a stdio server needs a command; add one, or give a url and type http")
	case s.Transport == Stdio && address != nil:
		r.fail(address, "a stdio server has no address; remove it, or write type http")
	case s.Transport == Stdio:
	case command != nil:
		r.fail(command, "a server of type %s has no command; remove it, or write type stdio", s.Transport)
	case address == nil:
		r.fail(v, "a server of type %s needs a url; add one", s.Transport)
	default:
		r.address(address, s.URL)
	}
}

// missingKind is the rule for an entry without a type.
func (r *entryReader) missingKind(v, command, address *Value, text string) Transport {
	switch {
	case r.failed:
		return ""
	case command != nil && address != nil:
		r.fail(v, "the server has both a command and an address; remove one, or add a type")
	case command != nil:
		return Stdio
	case address == nil:
		r.fail(v, "the server has neither a command nor a url; add one")
	case address.name != "httpUrl" && endsInSSE(text):
		return SSE
	}
	return HTTP
}

func endsInSSE(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/sse")
}

// kind reads the type under any of its names; empty when there is none.
func (r *entryReader) kind(v *Value) Transport {
	var kind Transport
	for _, key := range []string{"type", "transport", "transportType"} {
		found := given(v.Member(key))
		if found == nil {
			continue
		}
		if found.kind != Text {
			r.fail(found, "this must be text in quotes, not %s", found.kind)
			continue
		}
		this, ok := spellings[fold(found.text)]
		switch {
		case !ok:
			r.fail(found, "this type of server is not known; write stdio, http or sse")
		case kind != "" && kind != this:
			r.fail(found, "type, transport and transportType disagree; keep one")
		default:
			kind = this
		}
	}
	return kind
}

// spellings of the types, folded.
var spellings = map[string]Transport{"stdio": Stdio, "http": HTTP, "streamablehttp": HTTP, "sse": SSE}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

// address checks a URL. Its parse errors quote it, and it may hold a key, so they are not shown.
func (r *entryReader) address(v *Value, text string) {
	if r.untouched(text) {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		r.fail(v, "this is not a URL; write one such as https://example.com/mcp")
	case u.Scheme == "unix" || u.Scheme == "pipe":
	case u.Scheme != "http" && u.Scheme != "https":
		r.fail(v, "the address must begin with http:// or https://")
	case u.Hostname() == "":
		r.fail(v, "the address has no host; write one such as https://example.com/mcp")
	}
}

const longestTimeout = 24 * time.Hour

// timeout reads a duration; see Server.Timeout for the unit.
func (r *entryReader) timeout(v *Value) time.Duration {
	v = optional(v)
	var d time.Duration
	var err error
	switch v.Kind() {
	case "":
		return 0
	case Number:
		var n float64
		n, err = strconv.ParseFloat(v.text, 64)
		if n < 1000 {
			n *= 1000
		}
		if n > float64(longestTimeout.Milliseconds()) {
			n = -1 // does not fit
		}
		d = time.Duration(n * float64(time.Millisecond))
	case Text:
		d, err = time.ParseDuration(v.text)
	default:
		r.fail(v, "this must be a duration such as \"30s\", not %s", v.kind)
		return 0
	}
	if err != nil || d <= 0 || d > longestTimeout {
		r.fail(v, "this must be a duration above zero and up to 24h, such as \"30s\"")
	}
	return d
}
