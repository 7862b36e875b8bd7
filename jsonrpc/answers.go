package jsonrpc

import "sync"

// Answers gathers the answers to one array of messages, in the order in which they are ready. Its methods may be called
// concurrently; it is made by NewAnswers.
type Answers struct {
	mu   sync.Mutex
	left int
	out  []byte
}

// NewAnswers waits for a number of elements to end.
func NewAnswers(elements int) *Answers { return &Answers{left: elements} }

// End takes the end of one element: a copy of its answer, or nil where it gets none. The last end answers true, with the
// array, which is nil where no element got an answer.
func (a *Answers) End(answer []byte) (array []byte, last bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer != nil {
		a.out = append(append(a.out, ','), answer...)
	}
	if a.left--; a.left != 0 {
		return nil, false
	}
	if a.out == nil {
		return nil, true
	}
	a.out[0] = '[' // in place of the first comma
	return append(a.out, ']'), true
}
