package config

import (
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// expanded gives a text of the section with its variables put in. Few settings have any: those that hold secrets.
func (s *section) expanded(v *manager.Value) (string, bool) {
	if !s.is(v, manager.Text) {
		return "", false
	}
	if s.asWritten() {
		return v.Text(), true
	}
	if s.note != nil {
		*s.note = append(*s.note, v.Text())
		return v.Text(), true
	}
	text, err := s.file.Expand(v.Text(), s.opts.reader())
	return text, s.check(v, err)
}

// unread tells whether a text has variables or references that were not put in, so that nothing can be said about it.
func (s *section) unread(text string) bool {
	return (s.asWritten() || s.opts.Stores == nil) && strings.Contains(text, "${")
}

// asWritten tells whether variables are not put in: nobody looks them up, or the file is read for single servers of it, and
// a setting that those do not need must not stop it.
func (s *section) asWritten() bool { return s.opts.Lookup == nil || s.opts.Only != nil }
