package upstream

import (
	"slices"
	"sync"
)

// Window is a Set for one of several who use it, and who need not know of each other: what they watch is watched together. Its
// methods may be called concurrently.
type Window struct {
	*Set
	all *windows
}

// windows are those of one Set.
type windows struct {
	mu     sync.Mutex
	wanted map[*Window]map[string][]Want // by server
}

// Window opens another window. It must be closed when nobody looks through it any more.
func (s *Set) Window() *Window { return &Window{Set: s, all: &s.windows} }

// WatchFor is that of the Set for what is watched through this window.
func (w *Window) WatchFor(name string, wants []Want) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock() // over the call too, so that the newest comes last
	if w.all.wanted == nil {
		w.all.wanted = make(map[*Window]map[string][]Want)
	}
	if w.all.wanted[w] == nil {
		w.all.wanted[w] = make(map[string][]Want)
	}
	w.all.wanted[w][name] = slices.Clone(wants)
	w.Set.WatchFor(name, w.all.together(name))
}

// together is what is watched of a server through all windows. a.mu is held.
func (a *windows) together(name string) (wants []Want) {
	for _, of := range a.wanted {
		wants = append(wants, of[name]...)
	}
	return wants
}

// Close gives up what is watched through the window. It does not close the Set.
func (w *Window) Close() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	gone := w.all.wanted[w]
	delete(w.all.wanted, w)
	for name := range gone {
		w.Set.WatchFor(name, w.all.together(name))
	}
}
