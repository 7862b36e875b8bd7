package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// What a file says may be allowed and hardly meant: that is told by rialto check, and a gateway that runs says nothing of it.

// secretName finds names of headers and of variables whose values are secrets, as far as a name can tell.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|auth|cred|cookie`)

// told gives all warnings, those of the entries of servers included, in the order of the file.
func (s *section) told(entries map[string]*manager.Value) (out []string) {
	s.entries(entries)
	_ = s.warnings.Err() // puts them into order
	for _, w := range s.warnings.List {
		out = append(out, w.Error())
	}
	return out
}

// warn tells of something, when the section is read for good.
func (s *section) warn(v *manager.Value, text string) {
	if s.warnings != nil {
		s.warnings.Add(v, "%s", text)
	}
}

// guessable warns of a secret whose default stands in the file. A default that is another variable does not.
func (s *section) guessable(v *manager.Value) {
	if v.Kind() != manager.Text {
		return
	}
	for _, at := range beforeDefault.FindAllStringIndex(v.Text(), -1) {
		if rest := v.Text()[at[1]:]; !strings.HasPrefix(rest, "}") && !strings.HasPrefix(rest, "${") {
			s.warn(v, "where the variable is not set, the default is the secret, and everybody has it who can read this file; take the default away")
			return
		}
	}
}

// entries looks for secrets with defaults in the entries of servers.
func (s *section) entries(all map[string]*manager.Value) {
	for _, entry := range all {
		for _, key := range []string{"headers", "env", "oauth", "auth"} {
			for _, child := range entry.Member(key).Children() {
				if secretName.MatchString(child.Name()) && !shownOfOAuth.MatchString(child.Name()) {
					s.guessable(child)
				}
			}
		}
		after := false
		for _, arg := range entry.Member("args").Children() {
			flag := secretFlag.MatchString(arg.Text())
			if after || flag && strings.Contains(arg.Text(), "=") {
				s.guessable(arg)
			}
			after = flag && !strings.Contains(arg.Text(), "=")
		}
	}
}

// everywhere warns of a pattern that finds a lone letter or digit: it would mask next to everything.
func (s *section) everywhere(v *manager.Value) {
	pattern, err := regexp.Compile(v.Text())
	if v.Kind() == manager.Text && err == nil && slices.ContainsFunc([]string{"a", "A", "7"}, pattern.MatchString) {
		s.warn(v, "the pattern finds a lone letter or digit, so it is in next to every text; let it name more of what is looked for")
	}
}

// all warns of a pattern that every name fits, beside others that say nothing then.
func (s *section) all(v *manager.Value) {
	if v.Kind() != manager.List || len(v.Children()) == 1 {
		return
	}
	for _, child := range v.Children() {
		if child.Kind() == manager.Text && strings.Trim(child.Text(), "*") == "" {
			s.warn(child, "every name fits this, so the other patterns here say nothing; keep it alone, or take it out")
		}
	}
}
