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

// Reason says in one line why a connection to s failed: exit code and last words of a child included, values of the
// entry's env and headers, arguments and the secret parts of its address left out.
func Reason(s Server, err error) string {
	if err == nil {
		return ""
	}
	var exit *stdio.ExitError
	if errors.As(err, &exit) {
		return mask(s, exitReason(exit))
	}
	var start *stdio.StartError
	if errors.As(err, &start) && errors.Is(err, exec.ErrNotFound) {
		return fmt.Sprintf("the program %q was not found in PATH", start.Path)
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
	if _, rest, ok := strings.Cut(text, "the server could not be reached: "); ok {
		text = rest // what stands before says how the era was looked for
	}
	return mask(s, text)
}

func exitReason(exit *stdio.ExitError) string {
	how := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "signal " + exit.Signal
	}
	text := fmt.Sprintf("the process of %s ended (%s)", exit.Command, how)
	tail := oneLine(exit.StderrTail)
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
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, v := range values {
			if len(v) >= 6 { // shorter ones are no secrets, and would hit words
				text = strings.ReplaceAll(text, v, "***")
			}
		}
	}
	text = oneLine(text)
	if len(text) > longestReason {
		text = strings.ToValidUTF8(text[:longestReason], "") + "..."
	}
	return text
}

// PublicURL is an address without user, query and fragment.
func PublicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// oneLine joins lines, and drops what could move a terminal's cursor.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == ' ' }), " ")
}
