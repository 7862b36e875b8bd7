package bare

import (
	"crypto/rand"
	"io"
	"net/http"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
)

const sessionHeader = "Mcp-Session-Id"

type handler struct {
	results  results
	stateful bool
	sessions sync.Map // session id -> struct{}
}

// Handler serves both eras over HTTP. With stateful, legacy requests need a session; otherwise there are none.
func Handler(stateful bool) (http.Handler, error) {
	return &handler{results: newResults(), stateful: stateful}, nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodGet && h.stateful:
		park(w, r, []byte(": open\n\n"))
	case r.Method == http.MethodDelete && h.stateful:
		h.sessions.Delete(r.Header.Get(sessionHeader))
	default:
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (h *handler) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var in request
	if err := jsonv2.Unmarshal(body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if h.stateful && in.Params.Meta.Version == "" && !h.admit(w, r, &in) {
		return
	}
	if in.Method == "subscriptions/listen" {
		park(w, r, acknowledge(&in))
		return
	}
	answer, err := h.results.reply(&in)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer) // a write that fails has lost its reader, nothing is left to tell
	}
}

// admit opens a session for an initialize and demands one for everything else. It reports whether to go on.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, in *request) bool {
	id := r.Header.Get(sessionHeader)
	if in.Method == "initialize" {
		id = rand.Text()
		h.sessions.Store(id, struct{}{})
	} else if _, open := h.sessions.Load(id); !open {
		http.Error(w, "no such session", http.StatusNotFound)
		return false
	}
	w.Header().Set(sessionHeader, id)
	return true
}

func acknowledge(in *request) []byte {
	head := `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",` +
		`"params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":`
	return append(append([]byte(head), in.ID...), "}}}\n\n"...)
}

// park opens an event stream, sends one event, and holds the stream until the client goes.
func park(w http.ResponseWriter, r *http.Request, first []byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := w.Write(first); err != nil {
		return
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	<-r.Context().Done()
}
