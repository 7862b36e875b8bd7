package route

import "slices"

// Resource says where an address is read or subscribed to. In this order: a listed resource; a rewritten address
// (see rewriteURI) of a server with resources, listed or not; the first template it matches; and, when exactly one
// server has resources, that server. With a nil matcher no template matches.
func (t *Table) Resource(uri string, match Matcher) (Target, bool) {
	if target, ok := t.resources.find(uri); ok {
		return target, true
	}
	if server, original, ok := OriginalURI(uri); ok && slices.Contains(t.serving, server) {
		return Target{Server: server, Name: original}, true
	}
	if match != nil {
		for _, e := range t.templates.entries {
			if match(e.Name, uri) {
				return Target{Server: e.Server, Name: uri}, true
			}
		}
	}
	if len(t.serving) == 1 {
		return Target{Server: t.serving[0], Name: uri}, true
	}
	return Target{}, false
}

// ResourceRef says where a completion reference to a resource goes: a template as it is shown to clients, or else the
// address of a resource.
func (t *Table) ResourceRef(ref string, match Matcher) (Target, bool) {
	if target, ok := t.templates.find(ref); ok {
		return target, true
	}
	return t.Resource(ref, match)
}

// ExposeAll is ExposeURI for addresses that belong together, the files of a folder say: all of them keep theirs, or all are
// rewritten in the same way.
func (t *Table) ExposeAll(server string, uris []string, match Matcher) []string {
	out := slices.Clone(uris)
	if !slices.Contains(t.serving, server) {
		return out
	}
	for salt := -1; ; salt++ {
		for i, uri := range uris {
			if salt >= 0 {
				out[i] = rewriteURI(server, uri, salt)
			}
		}
		if t.leadBack(server, uris, out, match) {
			return out
		}
	}
}

func (t *Table) leadBack(server string, uris, exposed []string, match Matcher) bool {
	for i, uri := range uris {
		if got, ok := t.Resource(exposed[i], match); !ok || got != (Target{server, uri}) {
			return false
		}
	}
	return true
}

// ExposeURI gives the address under which clients reach a resource of a server, listed or not: what belongs into
// links, read results and change notices. [Table.Resource] of the answer leads back to this server and address, as
// long as the server has resources; for any other server the address comes back as it is.
func (t *Table) ExposeURI(server, uri string, match Matcher) string {
	want := Target{Server: server, Name: uri}
	if exposed, ok := t.resources.byTarget[want]; ok {
		return exposed
	}
	if !slices.Contains(t.serving, server) {
		return uri
	}
	exposed := uri
	for salt := 0; ; salt++ {
		if got, ok := t.Resource(exposed, match); ok && got == want {
			return exposed
		}
		exposed = rewriteURI(server, uri, salt)
	}
}
