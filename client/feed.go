package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// feed brings news of the server to all who want some: by one stream on the modern era, by counted subscriptions of
// resources on the legacy one, where the rest comes by itself.
type feed struct {
	c *Client

	mu      sync.Mutex
	members map[*subscriber]struct{}
	stopped bool
	read    map[string]bool // by the notification that tells of its changes: a list that has been asked for
	streams                 // of the modern era
	held    map[string]int  // resources subscribed to on the legacy era, and for how many

	turn chan struct{} // one place: held while a legacy server is asked
}

// subscriber is one who wants news.
type subscriber struct {
	filter     Filter
	reconnect  bool        // stays when a stream breaks
	background bool        // has nobody who waits for the first answer: tries again
	take       func(Event) // takes an event; must not block
	lost       func(error) // hears that there will be no more; nil for an end in order

	joined chan struct{} // closed when the server has agreed, or will not
	in     bool          // it has agreed, at least once; guarded by feed.mu, like the rest
	grants Filter
	err    error // why it will not
}

// settle tells who waits in join what has come of it; feed.mu is held.
func (s *subscriber) settle(err error) {
	select {
	case <-s.joined:
	default:
		s.err = err
		close(s.joined)
	}
}

// add enters a subscriber; false after the end of the client.
func (f *feed) add(s *subscriber) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return false
	}
	if f.members == nil {
		f.members = make(map[*subscriber]struct{})
	}
	f.members[s] = struct{}{}
	return true
}

func (f *feed) drop(s *subscriber) (was bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, was = f.members[s]
	delete(f.members, s)
	return was
}

// join enters a subscriber and waits until the server has agreed.
func (f *feed) join(ctx context.Context, s *subscriber) error {
	if !f.add(s) {
		return mcp.Errorf(mcp.CodeNotConnected, "the client was closed; dial again")
	}
	if !f.c.traits().Listen {
		if err := f.hold(ctx, s); err != nil {
			f.drop(s)
			return err
		}
		return nil
	}
	f.tune()
	select {
	case <-s.joined:
		f.mu.Lock()
		defer f.mu.Unlock()
		return s.err
	case <-ctx.Done():
		f.drop(s)
		f.tune()
		return context.Cause(ctx)
	}
}

// leave takes a subscriber out and gives back what nobody else needs.
func (f *feed) leave(s *subscriber) error {
	if !f.drop(s) {
		return nil
	}
	if f.c.traits().Listen {
		f.tune()
		return nil
	}
	return f.release(s)
}

// stop ends everything with the client.
func (f *feed) stop(why error) {
	f.mu.Lock()
	f.stopped = true
	all := f.members
	f.members = nil
	f.mu.Unlock()
	for s := range all {
		f.end(s, why)
	}
}

// end tells a subscriber, that has been taken out, that nothing will come any more.
func (f *feed) end(s *subscriber, why error) {
	f.mu.Lock()
	s.settle(unbegun(why))
	f.mu.Unlock()
	s.lost(why)
}

// unbegun is what join answers whom a stream has left before it was one.
func unbegun(why error) error {
	if why == nil {
		return errors.New("the server has ended the subscription at once")
	}
	return why
}

func (f *feed) honoured(s *subscriber) Filter {
	f.mu.Lock()
	defer f.mu.Unlock()
	grants := s.grants
	grants.ResourceSubscriptions = slices.Clone(grants.ResourceSubscriptions)
	return grants
}

// all lists the subscribers of now that a test picks; nil picks all.
func (f *feed) all(pick func(*subscriber) bool) []*subscriber {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*subscriber
	for s := range f.members {
		if pick == nil || pick(s) {
			out = append(out, s)
		}
	}
	return out
}

var kindOf = map[string]EventKind{
	mcp.NotifyToolsChanged:     ToolsChanged,
	mcp.NotifyPromptsChanged:   PromptsChanged,
	mcp.NotifyResourcesChanged: ResourcesChanged,
	mcp.NotifyResourceUpdated:  ResourceUpdated,
}

// deliver gives a notification to those who want it.
func (f *feed) deliver(n *era.Notice) {
	e := Event{Kind: kindOf[n.Method], Params: n.Params}
	if e.Kind == ResourceUpdated {
		e.URI, _ = mcp.Meta(n.Params).Text("uri")
	}
	for _, s := range f.all(func(s *subscriber) bool { return wants(&s.filter, &e) }) {
		s.take(e)
	}
}

// newsOf names the notification that tells of changes of a list.
var newsOf = map[string]string{
	mcp.MethodListTools:             mcp.NotifyToolsChanged,
	mcp.MethodListPrompts:           mcp.NotifyPromptsChanged,
	mcp.MethodListResources:         mcp.NotifyResourcesChanged,
	mcp.MethodListResourceTemplates: mcp.NotifyResourcesChanged,
}

// asks takes note of a request for a list: what changes in it between the answer and the beginning of a stream is told nobody.
func (f *feed) asks(method string) {
	news := newsOf[method]
	if news == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil {
		f.read = make(map[string]bool)
	}
	f.read[news] = true
}

// begins tells those for whom a stream begins in the background of the lists that were read before: anything may have changed
// since. had is what another stream was asked to bring so far, has what this one was.
func (f *feed) begins(had, has Filter) {
	f.mu.Lock()
	var unheard []Event
	for news := range f.read {
		if e := (Event{Kind: kindOf[news]}); wants(&has, &e) && !wants(&had, &e) {
			unheard = append(unheard, e)
		}
	}
	var late []*subscriber
	for s := range f.members {
		if s.background && !s.in && slices.ContainsFunc(unheard, func(e Event) bool { return wants(&s.filter, &e) }) {
			late = append(late, s)
		}
	}
	f.mu.Unlock()
	for news, kind := range kindOf {
		if slices.ContainsFunc(unheard, func(e Event) bool { return e.Kind == kind }) {
			if kind == ToolsChanged {
				f.c.now().mirrors.stale()
			}
			f.c.cache.heard(f.c.life, f.c.now(), &era.Notice{Method: news})
		}
	}
	for _, s := range late {
		s.take(Event{Kind: Gap})
	}
}

// gap tells everybody that news may have been missed.
func (f *feed) gap() {
	f.c.now().mirrors.stale()
	f.c.cache.gap(f.c.now())
	for _, s := range f.all(func(s *subscriber) bool { return s.in || s.background }) {
		s.take(Event{Kind: Gap})
	}
}

func wants(filter *Filter, e *Event) bool {
	switch e.Kind {
	case ToolsChanged:
		return filter.ToolsListChanged
	case PromptsChanged:
		return filter.PromptsListChanged
	case ResourcesChanged:
		return filter.ResourcesListChanged
	case ResourceUpdated:
		return slices.ContainsFunc(filter.ResourceSubscriptions, func(uri string) bool { return covers(uri, e.URI) })
	}
	return false
}

// covers tells whether a resource is the one subscribed to, or lies below it, of which servers may tell as well. Spec
// 2025-11-25, schema, "ResourceUpdatedNotification".
func covers(subscribed, updated string) bool {
	rest, below := strings.CutPrefix(updated, subscribed)
	return below && (rest == "" || strings.HasSuffix(subscribed, "/") || strings.ContainsRune("/?#", rune(rest[0])))
}

// union is the filter that brings what the subscribers want; f.mu is held.
func (f *feed) union() (all Filter) {
	for s := range f.members {
		all.ToolsListChanged = all.ToolsListChanged || s.filter.ToolsListChanged
		all.PromptsListChanged = all.PromptsListChanged || s.filter.PromptsListChanged
		all.ResourcesListChanged = all.ResourcesListChanged || s.filter.ResourcesListChanged
		all.ResourceSubscriptions = append(all.ResourceSubscriptions, s.filter.ResourceSubscriptions...)
	}
	all.ResourceSubscriptions = distinct(all.ResourceSubscriptions)
	if len(all.ResourceSubscriptions) == 0 {
		all.ResourceSubscriptions = nil
	}
	return all
}

// both is what two filters have in common.
func both(a, b *Filter) (out Filter) {
	out.ToolsListChanged = a.ToolsListChanged && b.ToolsListChanged
	out.PromptsListChanged = a.PromptsListChanged && b.PromptsListChanged
	out.ResourcesListChanged = a.ResourcesListChanged && b.ResourcesListChanged
	for _, uri := range a.ResourceSubscriptions {
		if slices.Contains(b.ResourceSubscriptions, uri) {
			out.ResourceSubscriptions = append(out.ResourceSubscriptions, uri)
		}
	}
	return out
}

// offered cuts a filter to what the server declares.
func (c *Client) offered(f Filter) Filter {
	has := &c.now().greeting.Capabilities
	f.ToolsListChanged = f.ToolsListChanged && has.Tools != nil && has.Tools.ListChanged
	f.PromptsListChanged = f.PromptsListChanged && has.Prompts != nil && has.Prompts.ListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && has.Resources != nil && has.Resources.ListChanged
	if has.Resources == nil || !has.Resources.Subscribe {
		f.ResourceSubscriptions = nil
	}
	return f
}

// fault reports a fault of the feed.
func (f *feed) fault(err error) {
	f.c.faults.report(f.c.named("news of changes: %w", err))
}
