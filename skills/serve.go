package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Service is a Set that a server serves. Its methods may be called concurrently.
type Service struct {
	server *server.Server
	mu     sync.Mutex // writers
	set    atomic.Pointer[Set]
}

// Serve serves a Set: every file as a resource, and the methods of the extension. It panics when the server was built
// without Extension among its Options.Extensions, which only a programmer can cause.
//
// The extension demands the capability of resources. It follows from the files; for a Set that is empty at first declare it
// in Options.Capabilities.
//
// Options.Visible hides skills as it hides resources: a skill by the URI of its SKILL.md, and other files, where folders are
// read, by theirs.
func Serve(s *server.Server, set *Set) *Service {
	if !s.HasExtension(Identifier) {
		panic("skills: put skills.Extension() into the Options.Extensions of the server")
	}
	v := &Service{server: s}
	v.set.Store(&Set{})
	v.Replace(set)
	s.Handle(MethodList, v.list)
	s.Handle(MethodGet, v.get)
	s.Handle(MethodReadDirectory, v.readDirectory)
	return v
}

// Set returns what is served now.
func (v *Service) Set() *Set { return v.set.Load() }

// Replace serves another Set instead. Clients are told when resources come and go, and those that follow a file when it
// changes.
func (v *Service) Replace(set *Set) {
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.set.Load()
	var changed []string
	for _, f := range set.files { // before their entries are shown
		was := old.byURI[f.resource.URI]
		if was != nil && f.made == nil && was.made == nil && was.digest == f.digest && was.resource.Description == f.resource.Description {
			continue
		}
		v.server.AddResource(f.resource, v.reader(f, set.opts))
		if was != nil {
			changed = append(changed, f.resource.URI)
		}
	}
	v.set.Store(set)
	var gone []string
	for _, f := range old.files {
		if set.byURI[f.resource.URI] == nil {
			gone = append(gone, f.resource.URI)
		}
	}
	v.server.RemoveResource(gone...)
	for _, uri := range slices.Concat(changed, gone) {
		v.server.ResourceUpdated(uri)
	}
}

// reader reads one file.
func (v *Service) reader(f *file, o Options) server.ResourceHandler {
	return func(ctx context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
		content := f.content
		if f.made != nil {
			var err error
			if content, err = f.made(ctx, req); err != nil {
				return nil, err
			}
			if int64(len(content)) > o.MaxBytes {
				return nil, fmt.Errorf("%s was made with %d bytes, at most %d are allowed", f.resource.URI, len(content), o.MaxBytes)
			}
		}
		res := mcp.BlobResource(f.resource.URI, f.resource.MIMEType, content)
		if isText(content) {
			res = mcp.TextResource(f.resource.URI, f.resource.MIMEType, string(content))
		}
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{res}, Cache: o.Cache}, nil
	}
}

// list answers skills/list.
func (v *Service) list(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	var p mcp.ListParams
	if err := decode(req.Params(), &p); err != nil {
		return nil, err
	}
	set := v.set.Load()
	result, err := page("skills", set.listed, p.Cursor, set.opts.PageSize, func(it item) bool { return req.MaySee(ctx, server.Resources, it.key) })
	return &server.RawResult{Result: result, Cache: set.opts.Cache}, err
}

// get answers skills/get.
func (v *Service) get(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	var p GetParams
	if err := decode(req.Params(), &p); err != nil {
		return nil, err
	}
	set := v.set.Load()
	one, ok := set.skills[p.URI]
	if !ok || !req.MaySee(ctx, server.Resources, p.URI) {
		return nil, unknownSkill(p.URI)
	}
	result := append(jsonrpc.AppendRaw([]byte(`{"skill":`), one.raw), '}')
	return &server.RawResult{Result: result, Cache: set.opts.Cache}, nil
}

// readDirectory answers resources/directory/read.
func (v *Service) readDirectory(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	var p ReadDirectoryParams
	if err := decode(req.Params(), &p); err != nil {
		return nil, err
	}
	set := v.set.Load()
	children, ok := set.folders[p.URI]
	shows := func(it item) bool { return set.shows(ctx, req, it.key) }
	if !ok || !slices.ContainsFunc(children, shows) {
		return nil, notDirectory(p.URI)
	}
	result, err := page("resources", children, p.Cursor, set.opts.PageSize, shows)
	return &server.RawResult{Result: result, Cache: set.opts.Cache}, err
}

// shows tells whether a caller may see a file, or any file below a folder.
func (s *Set) shows(ctx context.Context, req *server.Request, uri string) bool {
	if _, ok := s.folders[uri]; !ok {
		return req.MaySee(ctx, server.Resources, uri)
	}
	return slices.ContainsFunc(s.files, func(f *file) bool {
		return strings.HasPrefix(f.resource.URI, uri+"/") && req.MaySee(ctx, server.Resources, f.resource.URI)
	})
}
