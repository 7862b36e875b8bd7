package main

import (
	"bytes"
	"strings"
	"sync"
)

// watched keeps what is written, and does something once a text has been.
type watched struct {
	mu    sync.Mutex
	b     bytes.Buffer
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if strings.Contains(w.b.String(), w.until) {
		w.then()
	}
	return len(p), nil
}
