package bridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// Skills (io.modelcontextprotocol/skills) are folders of resources. Their files are read like all others; what is passed on here
// is the list of them, an entry, and what stands in a folder. The addresses of one skill stay together: all of them as its server
// has them, or all under the mark of that server, so that what lies below a folder still does.

// skillsCursor says where a list goes on: at a server, which has a cursor of its own or is to begin.
type skillsCursor struct {
	Server string  `json:"s"`
	Cursor *string `json:"c,omitempty"`
}

func (c skillsCursor) text() string {
	raw, _ := json.Marshal(c) // of two strings
	return base64.RawURLEncoding.EncodeToString(raw)
}

func readSkillsCursor(params json.RawMessage) (at skillsCursor, ok bool) {
	raw, given := jsonrpc.Member(params, "cursor")
	if !given || string(raw) == "null" {
		return at, true
	}
	text, _ := jsonrpc.Text(raw)
	plain, err := base64.RawURLEncoding.DecodeString(text)
	return at, err == nil && json.Unmarshal(plain, &at) == nil && at.Server != ""
}

// listSkills answers skills/list with a page of one server after the other. One that does not answer is left out, unless the
// client has begun to read its list.
func (b *Bridge) listSkills(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	at, ok := readSkillsCursor(req.Params())
	if !ok {
		return nil, errSkillsCursor
	}
	b.settle(ctx)
	v := b.viewFor(ctx, req)
	servers := v.withSkills
	if at.Server != "" {
		i := slices.Index(servers, at.Server)
		if i < 0 {
			return nil, errSkillsCursor
		}
		servers = servers[i:]
	}
	if len(v.withSkills) == 0 {
		return nil, server.ErrUnhandled
	}
	for i, name := range servers {
		answer, err := b.skillsOf(ctx, req, v, name, at.Cursor)
		switch {
		case err != nil && (at.Cursor != nil || ctx.Err() != nil || len(v.withSkills) == 1):
			return nil, b.failure(ctx, req, v, destination{Target: route.Target{Server: name}}, err)
		case err != nil:
			b.opts.Logger.Warn("its skills are left out of a list: "+b.ups.Reason(name, err), slog.String("server", name))
			continue
		}
		result := eachOf(v.only(name, answer.Result, "skills"), "skills", func(entry json.RawMessage) json.RawMessage { return skillBack(v, name, entry) })
		next := ""
		if raw, ok := jsonrpc.Member(result, "nextCursor"); ok && jsonrpc.IsString(raw) {
			cursor, _ := jsonrpc.Text(raw)
			next = skillsCursor{Server: name, Cursor: &cursor}.text()
		} else if i+1 < len(servers) {
			next = skillsCursor{Server: servers[i+1]}.text()
		}
		result = jsonrpc.Without(result, "nextCursor")
		if next != "" {
			result = jsonrpc.With(nil, result, "nextCursor", jsonrpc.AppendString(nil, next))
		}
		return &server.RawResult{Result: result, Cache: v.confined(answer.Cache)}, nil
	}
	return &server.RawResult{Result: json.RawMessage(`{"skills":[]}`)}, nil
}

var errSkillsCursor = mcp.InvalidParams("the cursor is none of skills/list, or its server is gone; begin the list anew")

// skillsOf reads one page of the list of one server.
func (b *Bridge) skillsOf(ctx context.Context, req *server.Request, v *view, name string, cursor *string) (*upstream.Answer, error) {
	params := jsonrpc.Without(orObject(req.Params()), "cursor")
	if cursor != nil {
		params = jsonrpc.With(nil, params, "cursor", jsonrpc.AppendString(nil, *cursor))
	}
	to := destination{Target: route.Target{Server: name}, sent: params}
	answer, err := b.ups.Call(ctx, name, call(ctx, req, v, to, func() (context.Context, *server.Request) { return ctx, req }))
	switch {
	case err != nil:
		return nil, err
	case answer.Result == nil:
		return nil, mcp.Errorf(mcp.CodeInvalidResult, "it answers skills/list with something else than a list")
	}
	return answer, nil
}

func orObject(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}

// only leaves out the entries of a list that a caller may not see.
func (v *view) only(name string, result json.RawMessage, list string) json.RawMessage {
	return inside(result, list, func(all json.RawMessage) json.RawMessage {
		out, whole := []byte{'['}, true
		for entry := range jsonrpc.Elements(all) {
			if !v.sees(route.Resource, route.Target{Server: name, Name: member(entry, "uri")}, true) {
				whole = false
				continue
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, entry...)
		}
		if whole {
			return all
		}
		return append(out, ']')
	})
}

// findSkill finds the server of a skill by the address of its SKILL.md.
func findSkill(v *view, req *server.Request) (destination, bool) {
	return v.below(req, v.table.Resource)
}

// findFolder finds the server of a folder: that of its address, or of what is listed below it.
func findFolder(v *view, req *server.Request) (destination, bool) {
	return v.below(req, func(uri string, match route.Matcher) (route.Target, bool) {
		if to, ok := v.table.Resource(uri, match); ok {
			return to, true
		}
		for _, e := range v.table.Entries(route.Resource) {
			if strings.HasPrefix(e.Exposed, uri+"/") && strings.HasSuffix(e.Name, strings.TrimPrefix(e.Exposed, uri)) {
				return route.Target{Server: e.Server, Name: strings.TrimSuffix(e.Name, strings.TrimPrefix(e.Exposed, uri))}, true
			}
		}
		return route.Target{}, false
	})
}

// noSkill answers for an address that is neither a skill's nor a folder's. Without servers that have any, there is no such
// method.
func noSkill(v *view, req *server.Request) error {
	if len(v.withSkills) == 0 {
		return server.ErrUnhandled
	}
	uri := member(req.Params(), "uri")
	return mcp.InvalidParams("no server has a skill or a folder of one at %.200s; skills/list tells which there are", uri).WithData(map[string]string{"uri": uri})
}

func (v *view) below(req *server.Request, look func(string, route.Matcher) (route.Target, bool)) (destination, bool) {
	uri := member(req.Params(), "uri")
	to, ok := look(uri, v.match)
	ok = ok && slices.Contains(v.withSkills, to.Server)
	return destination{kind: route.Resource, Target: to, asked: uri, params: exchange(req.Params(), "uri", uri, to.Name)}, v.sees(route.Resource, to, ok)
}

// entryBack puts the addresses that clients know into the answer to skills/get.
func entryBack(v *view, to destination, result json.RawMessage) json.RawMessage {
	return inside(result, "skill", func(entry json.RawMessage) json.RawMessage { return skillBack(v, to.Server, entry) })
}

// skillBack puts the addresses that clients know into the entry of a skill, all of them in the same way.
func skillBack(v *view, name string, entry json.RawMessage) json.RawMessage {
	manifest := member(entry, "uri")
	root, ok := strings.CutSuffix(manifest, "/"+skills.Manifest)
	if !ok {
		return entry
	}
	uris := []string{manifest}
	files, _ := jsonrpc.Member(entry, "resources")
	for file := range jsonrpc.Elements(files) {
		if uri := member(file, "uri"); uri != "" {
			uris = append(uris, uri)
		}
	}
	if !jsonrpc.IsArray(files) { // they are made when they are read, and lie below the folder
		uris = append(uris, root+"/any")
	}
	shown := v.table.ExposeAll(name, uris, v.match)
	entry = exchange(entry, "uri", manifest, shown[0])
	at := 0
	return eachOf(entry, "resources", func(file json.RawMessage) json.RawMessage {
		if member(file, "uri") == "" { // whatever it is
			return file
		}
		at++
		return exchange(file, "uri", uris[at], shown[at])
	})
}

// folderBack puts the addresses that clients know into the answer to resources/directory/read: below the folder as it was asked
// for, and without what the caller may not see.
func folderBack(v *view, to destination, result json.RawMessage) json.RawMessage {
	return eachOf(v.only(to.Server, result, "resources"), "resources", func(child json.RawMessage) json.RawMessage {
		uri := member(child, "uri")
		if rest, ok := strings.CutPrefix(uri, to.Name+"/"); ok {
			return exchange(child, "uri", uri, to.asked+"/"+rest)
		}
		return addressBack(v, to.Server, child)
	})
}

// readsFolders is the settings of two servers as one: folders can be read where one of them has that.
func readsFolders(a, b json.RawMessage) json.RawMessage {
	if raw, _ := jsonrpc.Member(b, "directoryRead"); string(raw) == "true" {
		return jsonrpc.With(nil, a, "directoryRead", raw)
	}
	return a
}
