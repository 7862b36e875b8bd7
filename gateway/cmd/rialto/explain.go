package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// explain turns what went wrong in a step into a failure: each cause has its own words.
func explain(step string, s manager.Server, err error) error {
	f := &failure{exit: exitUnreachable, step: step, kind: "failed", seen: manager.Reason(s, err)}
	for _, look := range []func(*failure, manager.Server, error) bool{ofAnswer, ofAuth, ofProcess, ofNetwork, ofHTTP, ofProtocol} {
		if look(f, s, err) {
			break
		}
	}
	return f
}

// ofAnswer is an error that the server answered to a request.
func ofAnswer(f *failure, _ manager.Server, err error) bool {
	var fault *mcp.Error
	if !errors.As(err, &fault) || !fault.Remote || fault.Code == mcp.CodeUnsupportedVersion || strings.HasPrefix(f.step, "connect") {
		return false
	}
	f.exit, f.kind = exitTool, "answer"
	f.seen = fmt.Sprintf("the server answers with error %d: %s", int64(fault.Code), clean(fault.Message))
	if fault.Code.IsSymbolic() {
		f.seen = "the server answers: " + clean(fault.Message)
	}
	if fault.Code == mcp.CodeMissingCapability {
		f.next = "rialto answers no questions of servers: use a client that does"
	}
	return true
}

func ofAuth(f *failure, s manager.Server, err error) bool {
	var auth *client.AuthError
	if !errors.As(err, &auth) {
		if errors.Is(err, client.ErrUnauthorized) {
			f.exit, f.kind, f.next = exitAuth, "authorization", "sign in: rialto login "+s.Name
			return true
		}
		return false
	}
	f.exit, f.kind = exitAuth, "authorization"
	f.seen = fmt.Sprintf("the server wants to know who asks (HTTP status %d", auth.Status)
	if auth.Challenge != "" {
		f.seen += ", challenge " + clean(auth.Challenge)
	}
	f.seen += ")"
	f.next = `give credentials: --header "Authorization: Bearer TOKEN"`
	return true
}

func ofProcess(f *failure, s manager.Server, err error) bool {
	var start *stdio.StartError
	var exit *stdio.ExitError
	switch {
	case errors.As(err, &exit):
		f.kind, f.next = "exited", "run the command by hand to see all that it says"
	case errors.As(err, &start) && (errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)):
		f.kind, f.seen = "not-found", fmt.Sprintf("the program %q or its folder is not there", s.Command)
		f.next = "check the spelling and PATH, or give the full path"
	case errors.As(err, &start) && errors.Is(err, fs.ErrPermission):
		f.kind, f.next = "not-executable", "check that the file may be executed"
	case errors.As(err, &start):
		f.kind = "not-started"
	default:
		return false
	}
	return true
}

func ofNetwork(f *failure, s manager.Server, err error) bool {
	var dns *net.DNSError
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &dns):
		f.kind, f.seen = "dns", fmt.Sprintf("no address is known for the host %q", dns.Name)
		f.next = "check the spelling of the host, and the network"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		f.kind, f.seen, f.next = "tls", "the server does not speak TLS", "a server without TLS has a URL with http://"
	case errors.As(err, &verify), errors.As(err, &authority), errors.As(err, &host):
		f.kind, f.next = "certificate", "check the host name in the URL, and that the certificate's authority is trusted here"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.kind, f.next = "refused", "nothing listens there: check that the server runs, and the port"
	case errors.Is(err, mcp.CodeRequestTimeout), errors.Is(err, context.DeadlineExceeded):
		f.kind, f.next = "timeout", "is it an MCP server? Give it more time with --timeout 60s, or try --era legacy"
		if s.Transport == manager.Stdio {
			f.next = "is it an MCP server? One that is downloaded or compiled first, by npx or go run, may need --timeout 5m"
		}
	default:
		return false
	}
	return true
}

func ofHTTP(f *failure, _ manager.Server, err error) bool {
	var status *transport.StatusError
	if !errors.As(err, &status) {
		return false
	}
	f.kind = fmt.Sprintf("http-%d", status.Status)
	if m := status.Message; m != nil && m.Error != nil {
		f.seen = fmt.Sprintf("the server refuses with error %d: %s", m.Error.Code, clean(m.Error.Message))
		if mcp.Code(m.Error.Code) == mcp.CodeUnsupportedVersion {
			f.kind, f.next = "era", "try another --era, or none"
		}
		return true
	}
	f.seen = fmt.Sprintf("HTTP status %d %s", status.Status, http.StatusText(status.Status))
	if start := firstOf(status.Body); start != "" {
		f.seen += fmt.Sprintf(", the body begins %q", start)
	}
	switch {
	case status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed:
		f.next = "check the path of the URL; many servers are at /mcp"
	case status.Status >= http.StatusInternalServerError:
		f.next = "the server has failed: its own log says why"
	default:
		f.next = "check that the URL is that of an MCP server"
	}
	return true
}

func firstOf(body []byte) string {
	const most = 80
	text := strings.Join(strings.Fields(clean(string(body))), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

func ofProtocol(f *failure, _ manager.Server, err error) bool {
	var unsupported *manager.UnsupportedError
	switch {
	case errors.Is(err, mcp.CodeInvalidResult), strings.Contains(f.seen, "answered with"):
		f.kind, f.next = "no-mcp", "check that the target is an MCP server"
	case errors.Is(err, mcp.CodeUnsupportedVersion), errors.Is(err, mcp.CodeNegotiationFailed):
		f.kind, f.next = "era", "try another --era, or none"
	case errors.As(err, &unsupported):
		f.exit, f.kind = exitUsage, "unsupported"
	case errors.Is(err, mcp.CodeConnectionClosed):
		f.kind, f.next = "closed", "the server has gone: its own log says why"
	default:
		return false
	}
	return true
}
