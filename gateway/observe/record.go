package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Outcomes of requests.
const (
	outcomeOK        = "ok"
	outcomeToolError = "tool error" // the tool says that it has failed
	outcomeAsks      = "asks"       // the answer is questions; a request with the answers follows
	outcomeError     = "error"
	outcomeRefused   = "refused"   // by the gateway; no server was asked
	outcomeCancelled = "cancelled" // the client gave it up, or has gone
)

// record is one line of the audit log. Members that say nothing are left out.
type record struct {
	Time      time.Time       `json:"time"`           // when it began
	ID        json.RawMessage `json:"id,omitempty"`   // of the request, as the client chose it
	From      string          `json:"from,omitempty"` // network address
	Principal *who            `json:"principal,omitempty"`
	Client    string          `json:"client,omitempty"`   // what it says it is, with its version
	Revision  string          `json:"revision,omitempty"` // that it speaks
	Session   string          `json:"session,omitempty"`  // a digest
	Method    string          `json:"method,omitempty"`
	Shown     string          `json:"shown,omitempty"` // the name that the client used, where it is another
	Kind      string          `json:"kind,omitempty"`
	Server    string          `json:"server,omitempty"`
	Name      string          `json:"name,omitempty"` // at that server

	Decision string `json:"decision,omitempty"` // of a policy
	Rule     string `json:"rule,omitempty"`     // that has decided

	Outcome  string  `json:"outcome"`
	Code     *int64  `json:"code,omitempty"`   // of an error
	Reason   string  `json:"reason,omitempty"` // of an error of the gateway's own
	Status   int     `json:"status,omitempty"` // of HTTP, of a request that was not let in
	Duration float64 `json:"durationMs"`
	BytesIn  int     `json:"bytesIn"`
	BytesOut int     `json:"bytesOut"`
	Kept     bool    `json:"kept,omitempty"`  // answered from what is kept; no server was asked
	Asked    int     `json:"asked,omitempty"` // questions to the client
	Answered int     `json:"answered,omitempty"`

	Trace  string `json:"trace,omitempty"`
	Linked string `json:"traceLink,omitempty"` // of the HTTP request, where that is another

	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsDigest string          `json:"argumentsSha256,omitempty"`
	Result          json.RawMessage `json:"result,omitempty"`
	ResultDigest    string          `json:"resultSha256,omitempty"`

	sent json.RawMessage // the parameters as the server got them; nil where it got none
}

// who is a principal without what belongs to it at this moment alone.
type who struct {
	Issuer   string `json:"issuer,omitempty"`
	Subject  string `json:"subject,omitempty"`
	ClientID string `json:"clientId,omitempty"`
}

// Bounds of what strangers put into a line.
const (
	longestName = 1024
	longestID   = 128
)

// about begins the record of a request.
func about(req *server.Request, begun time.Time) *record {
	r := &record{
		Time: begun.UTC(), From: req.RemoteAddr(), Revision: req.ProtocolVersion(), Method: short(req.Method()),
		Shown: shownName(req), BytesIn: len(req.Params()),
	}
	if id := req.ID(); len(id) <= longestID {
		r.ID = id
	}
	if p := req.Principal(); p != nil && !p.IsZero() {
		r.Principal = &who{short(p.Issuer), short(p.Subject), short(p.ClientID)}
	}
	if info := req.ClientInfo(); info.Name != "" {
		r.Client = short(strings.TrimSpace(info.Name + " " + info.Version))
	}
	r.Session = sessionDigest(req.SessionID())
	parent, _, _ := req.Trace()
	r.trace(parent, req.Header("Traceparent"))
	return r
}

// sessionDigest tells sessions and tasks apart: the id itself lets its holder act in the session.
func sessionDigest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// trace notes the trace of a request, and that of the HTTP request that carried it.
func (r *record) trace(inside, header string) {
	if p, ok := mcp.ParseTraceParent(inside); ok {
		r.Trace = p.TraceID
	}
	if p, ok := mcp.ParseTraceParent(header); ok && p.TraceID != r.Trace {
		r.Linked = p.TraceID
	}
}

// end notes how long a request took.
func (r *record) end() { r.Duration = float64(time.Since(r.Time).Microseconds()) / 1000 }

// shownName is what a request is about, as it may be logged: of a task, whose id may be all that it takes to see its result, a
// digest.
func shownName(req *server.Request) string {
	if !strings.HasPrefix(req.Method(), "tasks/") {
		return loggedName(req.Name())
	}
	raw, _ := jsonrpc.Member(req.Params(), "taskId")
	id, _ := jsonrpc.Text(raw)
	return sessionDigest(id)
}

// loggedName is a name, and of an address what may hold no secret.
func loggedName(name string) string { return short(publicAddress(name)) }

// publicAddress hides user, query and fragment of an address, and what looks like a key. One that cannot be read as an address
// of the web stays, since the names of many resources are of no such form.
func publicAddress(address string) string {
	if !strings.Contains(address, "://") || !strings.ContainsAny(address, "?#@") {
		return address
	}
	return manager.PublicURL(address)
}

func short(text string) string {
	if len(text) <= longestName {
		return text
	}
	return strings.ToValidUTF8(text[:longestName], "") + "..."
}

// about notes what a request is for.
func (r *record) about(e bridge.Entry) {
	r.Kind, r.Server, r.Name = string(e.Kind), e.Server, loggedName(e.Name)
}

// attrs are those of the log record of a call.
func (r *record) attrs() []slog.Attr {
	out := []slog.Attr{slog.String("method", r.Method), slog.String("outcome", r.Outcome)}
	add := func(key, value string) {
		if value != "" {
			out = append(out, slog.String(key, value))
		}
	}
	add("server", r.Server)
	add("name", r.Name)
	if r.Server == "" {
		add("name", r.Shown)
	}
	if len(r.ID) > 0 {
		add("id", string(r.ID))
	}
	if r.Principal != nil {
		add("subject", r.Principal.Subject)
	}
	add("client", r.Client)
	add("session", r.Session)
	add("decision", r.Decision)
	add("rule", r.Rule)
	if r.Code != nil {
		out = append(out, slog.Int64("code", *r.Code))
	}
	add("reason", r.Reason)
	add("trace", r.Trace)
	return append(out, slog.Float64("durationMs", r.Duration), slog.Int("bytesIn", r.BytesIn), slog.Int("bytesOut", r.BytesOut))
}
