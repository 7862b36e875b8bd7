package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"

	"github.com/rialto-mcp/rialto/llm"
)

// Request is what a script sees of a request.
type Request struct {
	Tools   []string // the names that are offered
	Turn    int      // how often the model has spoken in this conversation
	Results []string // what the calls of the last turn have brought, as JSON of the vendor's result each
	Asked   string   // the last text of the user that is no result; for APIs that hold texts in parts, their JSON
	Raw     json.RawMessage
}

// Turn is what the model says.
type Turn struct {
	Text  string
	Calls []llm.Call
	Stop  string // the vendor's word for why it stopped; empty means the one that fits
}

// Script is the model. It may be called concurrently.
type Script func(Request) Turn

// most is how large a request may be.
const most = 64 << 20

// refusal is what the endpoint has against a request.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func refuse(format string, args ...any) { panic(refusal{fmt.Sprintf(format, args...)}) }

// serve runs one endpoint: judge reads the request and refuses by panicking with a refusal, answer writes what the model
// says.
func serve(script Script, judge func(r *http.Request, body map[string]any) Request, answer func(Turn) any, wrong func(text string) any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		raw, err := io.ReadAll(io.LimitReader(r.Body, most))
		var body map[string]any
		if err == nil {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.UseNumber()
			err = dec.Decode(&body)
		}
		status, out, inPieces := http.StatusOK, any(nil), false
		func() {
			defer func() {
				if p := recover(); p != nil {
					why, ok := p.(refusal)
					if !ok {
						why = refusal{fmt.Sprintf("the request has not the shape that is expected: %v", p)}
					}
					status, out = http.StatusBadRequest, wrong(why.text)
				}
			}()
			if err != nil {
				refuse("the body is no JSON object: %v", err)
			}
			req := judge(r, body)
			req.Raw = raw
			inPieces = wantsStream(r, body)
			out = answer(script(req))
		}()
		if inPieces && status == http.StatusOK {
			writeStream(w, r, body, out)
			return
		}
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(out); err != nil {
			return // the client is gone
		}
	})
}

func list(v any) []any { all, _ := v.([]any); return all }

func object(v any, what string) map[string]any {
	o, ok := v.(map[string]any)
	if !ok {
		refuse("%s must be an object", what)
	}
	return o
}

func str(v any) string { s, _ := v.(string); return s }

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// names checks the names of tools.
func names(all []string, pattern *regexp.Regexp) {
	for i, name := range all {
		if !pattern.MatchString(name) {
			refuse("tools.%d: the name %q does not match %s", i, name, pattern)
		}
		if slices.Contains(all[:i], name) {
			refuse("tools.%d: the name %q is there twice", i, name)
		}
	}
}

func has(o map[string]any, keys ...string) string {
	for _, key := range keys {
		if _, ok := o[key]; ok {
			return key
		}
	}
	return ""
}
