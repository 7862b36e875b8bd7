package manager

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

const (
	longestReason = 600 // bytes, so that an error stays readable
	longestTail   = 300 // of what a child wrote to standard error
)

// Reason says in one line why a connection to s failed: exit code and last words of a child included. What may be secret is
// left out of it: the values of the entry's env, envFile and headers, its client's secret, the query and other secret parts of
// its address, arguments that look like secrets, and the values of variables and inputs in all of them.
func Reason(s Server, err error) string {
	if err == nil {
		return ""
	}
	return cut(reason(s, err))
}

func reason(s Server, err error) string {
	var exit *stdio.ExitError
	if errors.As(err, &exit) {
		return exitReason(s, exit)
	}
	var start *stdio.StartError
	if errors.As(err, &start) && errors.Is(err, exec.ErrNotFound) {
		return mask(s, fmt.Sprintf("the program %q was not found in PATH", start.Path))
	}
	var auth *client.AuthError
	if errors.As(err, &auth) {
		return fmt.Sprintf("HTTP status %d: the server wants authorization; give it credentials, for example under \"headers\"", auth.Status)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return mask(s, dial.Error())
	}
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "connect to "+dialName(s)+": "); ok {
		text = rest
	}
	return mask(s, text)
}

func exitReason(s Server, exit *stdio.ExitError) string {
	how := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "signal " + exit.Signal
	}
	text := mask(s, fmt.Sprintf("the process of %s ended (%s)", exit.Command, how))
	tail := mask(s, exit.StderrTail) // before it is cut: half a secret is not found any more
	if tail == "" {
		return text
	}
	if len(tail) > longestTail {
		tail = "..." + strings.ToValidUTF8(tail[len(tail)-longestTail:], "")
	}
	return text + "; its last words: " + tail
}

// dialName is how package client names the server in its errors. It may hold secrets.
func dialName(s Server) string {
	if s.Transport == Stdio {
		return fmt.Sprintf("%q", strings.Join(append([]string{s.Command}, s.Args...), " "))
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// mask takes the values of the entry out of a text, and its line breaks.
func mask(s Server, text string) string {
	if s.URL != "" {
		text = strings.ReplaceAll(text, s.URL, PublicURL(s.URL))
	}
	for _, secret := range secretsOf(s) {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return oneLine(text)
}

// cut keeps an error readable.
func cut(text string) string {
	if len(text) <= longestReason {
		return text
	}
	return strings.ToValidUTF8(text[:longestReason], "") + "..."
}

// PublicURL is an address without user, query and fragment, and with *** for parts of the path that look like keys.
func PublicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	if u.Scheme == "unix" || u.Scheme == "pipe" { // paths on this machine
		return address
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	steps := strings.Split(u.EscapedPath(), "/")
	for i, step := range steps {
		if looksLikeKey(step) {
			steps[i] = "***"
		}
	}
	u.Path, u.RawPath = "", ""
	return u.String() + strings.Join(steps, "/")
}

// oneLine joins lines, and drops what a terminal would obey.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return isControl(r) || r == ' ' }), " ")
}
