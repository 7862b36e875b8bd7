package mount

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Key is where the section stands in a file. In a file whose root is the map of servers, give it to
// manager.ReadOptions.Sections, so that it is not taken for one of them.
const Key = "server"

// Where HTTP+SSE is served where the program says nothing else.
const (
	ssePath     = "/sse"
	messagePath = "/message"
)

var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._~!$&'()*+,;=:@-]+$`)

// Section is what a file says about the server that its program is.
type Section struct {
	Info       mcp.Implementation
	Path       string              // of the endpoint; /mcp where the file says nothing
	Transports []manager.Transport // http, sse and stdio, each once; http alone where the file says nothing
	Options    server.Options      // instructions, origins, hosts and limits; the program adds its own
}

// section is the form in the file.
type section struct {
	Name         string   `json:"name"`
	Title        string   `json:"title"`
	Version      string   `json:"version"`
	Instructions string   `json:"instructions"`
	Path         string   `json:"path"`
	Transports   []string `json:"transports"`
	Origins      []string `json:"origins"`
	Hosts        []string `json:"hosts"`
	Limits       limits   `json:"limits"`
}

// limits are those of server.Options and server.HTTPOptions under their own names. Zero means the server's default, as there.
type limits struct {
	MaxBodyBytes  int64         `json:"maxBodyBytes"`
	MaxInFlight   int           `json:"maxInFlight"`
	MaxSessions   int           `json:"maxSessions"`
	MaxStreams    int           `json:"maxStreams"`
	MaxListens    int           `json:"maxListens"`
	PageSize      int           `json:"pageSize"`
	IdleTimeout   time.Duration `json:"idleTimeout"`
	AskTimeout    time.Duration `json:"askTimeout"`
	MaxStateBytes int           `json:"maxStateBytes"`
}

// durations reads texts such as "30s".
var durations = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, d *time.Duration) error {
	var text string
	if err := jsonv2.UnmarshalDecode(dec, &text); err != nil {
		return err
	}
	var err error
	if *d, err = time.ParseDuration(text); err != nil {
		return errors.New(`this must be a duration such as "30s"`)
	}
	return nil
}))

// Read reads the section of a file. It answers nil when there is none, and a [*manager.ConfigErrors] when it is wrong.
func Read(f *manager.File) (*Section, error) {
	v := f.Root.Member(Key)
	if v == nil {
		return nil, nil
	}
	problems := &manager.ConfigErrors{}
	in := section{Version: "0.0.0", Path: "/mcp", Transports: []string{string(manager.HTTP)}}
	if err := jsonv2.Unmarshal(v.Raw(), &in, jsonv2.RejectUnknownMembers(true), durations); err != nil {
		problems.Add(place(v, err), "%s", words(err))
		return nil, problems.Err()
	}
	s := &Section{Info: mcp.Implementation{Name: in.Name, Title: in.Title, Version: in.Version}, Path: in.Path, Options: in.options()}
	if in.Name == "" {
		problems.Add(v, "the server needs a name; add one")
	}
	for i, text := range in.Transports {
		kind := manager.Transport(text)
		switch at := v.Member("transports").Children(); {
		case kind != manager.HTTP && kind != manager.SSE && kind != manager.Stdio:
			problems.Add(at[i], "this transport is not known; write http, sse or stdio")
		case slices.Contains(s.Transports, kind):
			problems.Add(at[i], "this transport stands twice; keep one")
		default:
			s.Transports = append(s.Transports, kind)
		}
	}
	if len(in.Transports) == 0 {
		problems.Add(v.Member("transports"), "nothing is served without a transport; write http, sse or stdio, or leave the key out")
	}
	// The mux panics for a path that it cannot serve, or that it serves already.
	switch at := v.Member("path"); {
	case !strings.HasPrefix(in.Path, "/") || path.Clean(in.Path) != in.Path || !plainPath.MatchString(in.Path):
		problems.Add(at, "this must be a plain path such as /mcp")
	case s.Serves(manager.SSE) && (in.Path == ssePath || in.Path == messagePath):
		problems.Add(at, "this path belongs to the transport sse; choose another")
	}
	for i, origin := range in.Origins {
		u, err := url.Parse(origin)
		if origin != "null" && (err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin) {
			problems.Add(v.Member("origins").Children()[i], "an origin is a scheme and a host, such as https://app.example.com")
		}
	}
	for i, host := range in.Hosts {
		if host == "" || strings.ContainsAny(host, "/@* ") {
			problems.Add(v.Member("hosts").Children()[i], "a host is a name or name:port, such as app.example.com")
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

func (in section) options() server.Options {
	l := in.Limits
	return server.Options{
		Instructions: in.Instructions, PageSize: l.PageSize, MaxInFlight: l.MaxInFlight, MaxListens: l.MaxListens,
		AskTimeout: l.AskTimeout, MaxStateBytes: l.MaxStateBytes,
		HTTP: server.HTTPOptions{
			AllowedHosts: in.Hosts, AllowedOrigins: in.Origins, MaxBodyBytes: l.MaxBodyBytes, MaxSessions: l.MaxSessions,
			MaxStreams: l.MaxStreams, IdleTimeout: l.IdleTimeout,
		},
	}
}

// Serves tells whether a transport is asked for.
func (s *Section) Serves(t manager.Transport) bool { return slices.Contains(s.Transports, t) }

// Server makes the server. The program registers its tools on it.
func (s *Section) Server() *server.Server { return server.New(s.Info, s.Options) }

// Mount puts the handlers of the server's HTTP transports on a mux: Streamable HTTP at Path, HTTP+SSE at its own two paths.
// Nothing is mounted for stdio; see [server.Server.RunStdio].
func (s *Section) Mount(mux *http.ServeMux, srv *server.Server) {
	if s.Serves(manager.HTTP) {
		mux.Handle(s.Path, srv.Handler())
	}
	if !s.Serves(manager.SSE) {
		return
	}
	h, stream, messages := srv.SSEHandler(), s.Options.SSE.Path, s.Options.SSE.MessagePath
	if stream == "" {
		stream = ssePath
	}
	if messages == "" {
		messages = messagePath
	}
	mux.Handle(stream, h)
	if messages != stream {
		mux.Handle(messages, h)
	}
}

// place finds the value that a decoder's error is about.
func place(v *manager.Value, err error) *manager.Value {
	var semantic *jsonv2.SemanticError
	if !errors.As(err, &semantic) {
		return v
	}
	for token := range semantic.JSONPointer.Tokens() {
		next := v.Member(token)
		if i, wrong := strconv.Atoi(token); next == nil && wrong == nil && i < len(v.Children()) {
			next = v.Children()[i]
		}
		if next == nil {
			break
		}
		v = next
	}
	return v
}

// words says what is wrong without what stands in the file.
func words(err error) string {
	var semantic *jsonv2.SemanticError
	if !errors.As(err, &semantic) {
		return "this cannot be read"
	}
	if errors.Is(err, jsonv2.ErrUnknownName) {
		return "this key is not known; remove it"
	}
	return "this has the wrong kind of value: durations are texts such as \"30s\", limits are whole numbers, lists hold texts"
}
