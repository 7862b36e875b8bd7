package streamhttp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// Bodies reads the JSON bodies of POSTs within limits, and answers itself what it does not take. It may be used
// concurrently.
type Bodies struct {
	Max     int64         // bytes of one body; negative means no bound
	Timeout time.Duration // for reading one body; not positive means no limit
	OnError func(error)   // faults of which the client is not told; must not be nil
}

// Read returns the body of a POST; the frame is the caller's own. ok is false when it has been refused and answered, with
// a JSON-RPC error: 415 for another type or any content coding, 413 over the limit (before it is read, where the length
// is declared), 408 for one that is too slow, 400 for one that breaks off.
func (b *Bodies) Read(w http.ResponseWriter, r *http.Request) (frame []byte, ok bool) {
	limited := b.Limit(w, r)
	if !b.checkType(w, r) {
		return nil, false
	}
	return b.take(w, r, limited)
}

// mediaTypes checks what can be seen before the body is read, and returns how the answer may be given.
func (h *Handler) mediaTypes(w http.ResponseWriter, r *http.Request) (form, bool) {
	if !h.bodies.checkType(w, r) {
		return neither, false
	}
	takes := accepted(r.Header["Accept"])
	if h.opts.JSONOnly {
		takes &= jsonBody
	}
	if takes == neither {
		web.Plain(w, http.StatusNotAcceptable, "answers are application/json or text/event-stream; name them in Accept")
		return neither, false
	}
	return takes, true
}

// checkType takes JSON without a content coding.
func (b *Bodies) checkType(w http.ResponseWriter, r *http.Request) bool {
	if essence(r.Header["Content-Type"]) != typeJSON {
		refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
			"the body must be JSON: send one header Content-Type: application/json"))
		return false
	}
	if coding := r.Header["Content-Encoding"]; len(coding) > 0 && (len(coding) > 1 || !strings.EqualFold(coding[0], "identity")) {
		w.Header()["Accept-Encoding"] = []string{"identity"}
		refuse(w, http.StatusUnsupportedMediaType, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
			"bodies with a Content-Encoding are not taken; send the JSON as it is"))
		return false
	}
	return true
}

var errTooLarge = errors.New("the body is over the limit")

// Limit sets the time by which the body of a request must have come, and tells whether one is set. A handler calls it
// first of all: it holds for requests that are refused unread, too, whose body net/http takes in before it answers.
func (b *Bodies) Limit(w http.ResponseWriter, r *http.Request) bool {
	return r.ContentLength != 0 && b.Timeout > 0 && readBy(w, time.Now().Add(b.Timeout)) == nil // or it has no deadlines
}

// take reads the whole body within the limits, or answers why not. limited says that Limit has set a time, which is lifted
// with the end of the body and left as it is otherwise.
func (b *Bodies) take(w http.ResponseWriter, r *http.Request, limited bool) ([]byte, bool) {
	limit := b.Max
	if limit > 0 && r.ContentLength > limit {
		b.tooLarge(w)
		return nil, false
	}
	frame, err := readFrame(r.Body, r.ContentLength, limit)
	if limited && err == nil {
		if err := readBy(w, time.Time{}); err != nil { // the wait for a lost connection must not end with it
			b.OnError(err)
		}
	}
	switch {
	case err == nil:
		return frame, true
	case errors.Is(err, errTooLarge):
		b.tooLarge(w)
	case isLate(err):
		w.Header()["Connection"] = []string{"close"}
		refuse(w, http.StatusRequestTimeout, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
			"the body did not arrive within %s", b.Timeout))
	default:
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, mcp.Errorf(mcp.CodeParse, "the body could not be read to its end"))
	}
	return nil, false
}

// isLate tells whether a deadline has ended the reading. It stands apart so that bodies in time pay nothing for it.
func isLate(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// readBy sets the time by which the body must have come. It asks net/http's own writer directly, which spares the
// controller that looks inside wrapped ones.
func readBy(w http.ResponseWriter, deadline time.Time) error {
	if direct, ok := w.(interface{ SetReadDeadline(time.Time) error }); ok {
		return direct.SetReadDeadline(deadline)
	}
	return http.NewResponseController(w).SetReadDeadline(deadline)
}

func (b *Bodies) tooLarge(w http.ResponseWriter) {
	w.Header()["Connection"] = []string{"close"} // the rest of the body is not read
	refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
		"the body is larger than %d bytes, the most this server takes (option MaxBodyBytes)", b.Max))
}

// step is how much is allocated ahead of what has arrived: a declared length is a claim.
const step = 64 << 10

// readFrame reads a body of a declared length (-1 for unknown) and at most limit bytes (no bound below zero).
func readFrame(body io.Reader, declared, limit int64) ([]byte, error) {
	size := int64(4 << 10)
	if declared >= 0 {
		size = min(declared, step)
	}
	frame := make([]byte, 0, size)
	for {
		if int64(len(frame)) == declared {
			return frame, nil
		}
		if len(frame) == cap(frame) {
			frame = grow(frame, declared)
		}
		n, err := body.Read(frame[len(frame):cap(frame)])
		frame = frame[:len(frame)+n]
		switch {
		case limit >= 0 && int64(len(frame)) > limit:
			return nil, errTooLarge
		case err == io.EOF && declared > int64(len(frame)):
			return nil, io.ErrUnexpectedEOF
		case err == io.EOF:
			return frame, nil
		case err != nil:
			return nil, err
		}
	}
}

// grow makes room for as much again as has arrived, or one step, or what is still to come.
func grow(frame []byte, declared int64) []byte {
	more := max(len(frame), step)
	if rest := declared - int64(len(frame)); declared >= 0 && rest < int64(more) {
		more = int(rest)
	}
	out := make([]byte, len(frame), len(frame)+more)
	copy(out, frame)
	return out
}
