package manager

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// shortestSecret: shorter values are no secrets, and hiding them would garble words.
const shortestSecret = 6

// secretsOf lists what must not be shown of an entry, the longest first, so that no part of one is left where another is
// its beginning.
func secretsOf(s Server) []string {
	var all []string
	add := func(values ...string) {
		for _, value := range values {
			all = append(all, value)
			all = append(all, strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })...) // lines of a key
		}
	}
	for _, value := range s.Env {
		add(value)
	}
	if s.EnvFile != "" {
		variables, _ := readEnvFile(s.EnvFile) // one that cannot be read has given nothing away
		for _, variable := range variables {
			_, value, _ := strings.Cut(variable, "=")
			add(value)
		}
	}
	for _, value := range s.Headers {
		add(value)
		if scheme, credentials, ok := strings.Cut(value, " "); ok && isToken(scheme) { // of Authorization
			add(credentials)
		}
	}
	if s.OAuth != nil {
		add(s.OAuth.ClientSecret)
	}
	add(secretArgs(s.Args)...)
	add(secretsOfURL(s.URL)...)
	add(s.secrets...)
	all = slices.DeleteFunc(all, func(value string) bool { return len(value) < shortestSecret })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(all)
}

var (
	secretName = regexp.MustCompile(`(?i)key|token|secret|passw|auth|cred|header|cookie`)
	longWord   = regexp.MustCompile(`^[A-Za-z0-9_+=-]{20,}$`)
)

// secretArgs guesses which arguments are secret: what follows a flag that sounds so, the value of NAME=value, and words that
// look like keys.
func secretArgs(args []string) []string {
	var all []string
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		flag := i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") &&
			(secretName.MatchString(args[i-1]) || args[i-1] == "-H")
		switch {
		case assigned && (secretName.MatchString(name) || looksLikeKey(value)):
			all = append(all, value)
		case flag && !strings.HasPrefix(arg, "-"):
			all = append(all, arg)
			if _, value, ok := strings.Cut(arg, ":"); ok { // a header
				all = append(all, strings.TrimSpace(value))
			}
		case strings.Contains(value, "://"):
			all = append(all, secretsOfURL(value)...)
		case strings.Contains(arg, "://"):
			all = append(all, secretsOfURL(arg)...)
		case looksLikeKey(arg):
			all = append(all, arg)
		}
	}
	return all
}

// secretsOfURL lists the parts of an address that may be secret, as they are and as they are written in it.
func secretsOfURL(address string) []string {
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return nil
	}
	var all []string
	if u.User != nil {
		password, _ := u.User.Password()
		all = append(all, u.User.String(), password)
		if password == "" {
			all = append(all, u.User.Username())
		}
	}
	for _, pair := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		_, value, assigned := strings.Cut(pair, "=")
		if !assigned {
			value = pair
		}
		all = append(all, value)
		if plain, err := url.QueryUnescape(value); err == nil {
			all = append(all, plain)
		}
	}
	for step := range strings.SplitSeq(u.EscapedPath(), "/") {
		if looksLikeKey(step) {
			all = append(all, step)
		}
	}
	if u.Scheme != "unix" { // whose fragment is a path
		all = append(all, u.Fragment)
	}
	return all
}

// looksLikeKey tells words of at least 20 letters and digits, with a digit among them.
func looksLikeKey(word string) bool {
	return longWord.MatchString(word) && strings.ContainsAny(word, "0123456789")
}
