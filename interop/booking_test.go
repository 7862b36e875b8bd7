package interop

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// hotel is the example program booking, with the folder of its booking service and the key of its copies.
type hotel struct {
	program, bookings, key string
}

func newHotel(t *testing.T) *hotel {
	t.Helper()
	folder := t.TempDir()
	h := &hotel{
		program: program(t, "github.com/rialto-mcp/rialto/examples/booking"), bookings: filepath.Join(folder, "bookings"), key: filepath.Join(folder, "key"),
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	if err := os.WriteFile(h.key, []byte(hex.EncodeToString(secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.empty(t)
	return h
}

// empty forgets all bookings.
func (h *hotel) empty(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(h.bookings); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.bookings, 0o700); err != nil {
		t.Fatal(err)
	}
}

// open starts a copy and answers its address.
func (h *hotel) open(t *testing.T, args ...string) string {
	t.Helper()
	command := append([]string{h.program, "-addr", "127.0.0.1:0", "-bookings", h.bookings, "-key", h.key}, args...)
	return Process{Command: command, Ready: func(line string) (string, bool) { return strings.CutPrefix(line, "listening on ") }}.Start(t)
}

// did tells how often the booking service was asked for something, and how many times it did it.
func (h *hotel) did(t *testing.T, what string) (asked, done int) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(h.bookings, "requests.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(h.bookings, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		done += strings.Count(string(content), `"what":"`+what)
	}
	return strings.Count("\n"+string(log), "\n"+what), done
}

// inTurn is a proxy that gives each request to the next server.
func inTurn(t *testing.T, servers ...string) (address string, hits []*atomic.Int64) {
	t.Helper()
	var next atomic.Int64
	proxies := make([]http.Handler, len(servers))
	for i, server := range servers {
		to, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, &atomic.Int64{})
		to.Path = ""
		proxies[i] = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := int(next.Add(1)) % len(servers)
		hits[i].Add(1)
		proxies[i].ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL + "/mcp", hits
}

var guest = &Answers{Form: map[string]any{"guest": "Ada", "nights": 3, "sure": true}, Text: "Hello Ada!", Model: "m", Roots: []string{}}

// booked demands the result of a booking.
func booked(t testing.TB, out Outcome) {
	t.Helper()
	result := Decode[ToolResult](t, out)
	if result.IsError || len(result.Content) == 0 || !strings.HasPrefix(result.Content[0].Text, "Hello Ada! Room B") ||
		!strings.Contains(result.Content[0].Text, "is booked for 3 nights: B") {
		t.Errorf("got %s", out.Result)
	}
}

// TestBookingOverCopies books through clients of other people and ours: modern ones over three copies of one program that share
// only a key, each round on the next; legacy ones with one copy.
func TestBookingOverCopies(t *testing.T) {
	h := newHotel(t)
	address, hits := inTurn(t, h.open(t), h.open(t), h.open(t))
	alone := h.open(t)
	plan := Plan{Answers: guest, Steps: []Step{{Do: "call", Name: "book", Arguments: map[string]any{"city": "Oslo"}}}}
	drivers := map[string]Driver{}
	for _, d := range Drivers() {
		drivers[d.Name] = d
	}
	for _, c := range []struct{ driver, era, address string }{
		{"typescript-2", "modern", address}, {"rialto", "modern", address},
		{"typescript-1", "legacy", alone}, {"typescript-2", "legacy", alone}, {"rialto", "legacy", alone},
	} {
		t.Run(c.driver+" "+c.era, func(t *testing.T) {
			h.empty(t)
			plan.Era = c.era
			report := drivers[c.driver].Run(t, Target{URL: c.address}, plan)
			if report.Error != nil {
				t.Fatalf("connect: %d %s", report.Error.Code, report.Error.Message)
			}
			booked(t, report.Steps[0])
			for _, what := range []string{"hold", "book"} {
				if asked, done := h.did(t, what); asked != 1 || done != 1 {
					t.Errorf("%s: asked for %d times, done %d times", what, asked, done)
				}
			}
		})
	}
	for i, n := range hits {
		if n.Load() == 0 {
			t.Errorf("copy %d was never used", i)
		}
	}
}

// round is one request of a modern client to a copy, by hand. It answers the message that comes back.
func round(t testing.TB, address, state, answers string) (map[string]json.RawMessage, error) {
	t.Helper()
	retry := ""
	if state != "" {
		retry = fmt.Sprintf(`,"requestState":%s,"inputResponses":%s`, state, answers)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"city":"Oslo"}%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"sampling":{}}}}}`, retry, modernVersion)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": modernVersion, "Mcp-Method": "tools/call", "Mcp-Name": "book",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	frame, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if _, event, ok := bytes.Cut(frame, []byte("data: {")); ok {
		line, _, _ := bytes.Cut(event, []byte("\n"))
		frame = append([]byte("{"), line...)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(frame, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", frame, err)
	}
	return m, nil
}

// toTheLastWord asks and answers until only the confirmation is missing, and returns what the last retry takes.
func toTheLastWord(t testing.TB, address string) (state, answers string) {
	t.Helper()
	for _, answer := range []string{
		"", `{"action":"accept","content":{"guest":"Ada","nights":3}}`,
		`{"role":"assistant","model":"m","content":{"type":"text","text":"Hello Ada!"}}`, `{"action":"accept","content":{"sure":true}}`,
	} {
		if answer != "" {
			answers = strings.ReplaceAll(answers, "ANSWER", answer)
		}
		if strings.Contains(answer, "sure") {
			return state, answers
		}
		m, err := round(t, address, state, answers)
		if err != nil {
			t.Fatal(err)
		}
		var result struct {
			RequestState  json.RawMessage
			InputRequests map[string]json.RawMessage
		}
		if err := json.Unmarshal(m["result"], &result); err != nil || len(result.InputRequests) != 1 {
			t.Fatalf("%s%s: %v", m["result"], m["error"], err)
		}
		state = string(result.RequestState)
		for key := range result.InputRequests {
			answers = fmt.Sprintf(`{%q:ANSWER}`, key)
		}
	}
	return state, answers
}

// TestSameRetryTwice sends the last retry of a booking to two copies at once. A state is good twice, so the step runs twice and
// the idempotency key keeps the booking one; where the copies share a note of used states, one of the two is refused.
func TestSameRetryTwice(t *testing.T) {
	h := newHotel(t)
	for name, c := range map[string]struct {
		args    []string
		results int // of two retries
	}{
		"states are good again":       {nil, 2},
		"states are good for one use": {[]string{"-used", t.TempDir()}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h.empty(t)
			copies := []string{h.open(t, c.args...), h.open(t, c.args...)}
			state, answers := toTheLastWord(t, copies[0])
			type end struct {
				m   map[string]json.RawMessage
				err error
			}
			ends := make(chan end, len(copies))
			for _, address := range copies {
				go func() {
					m, err := round(t, address, state, answers)
					ends <- end{m, err}
				}()
			}
			results := 0
			for range copies {
				e := <-ends
				switch {
				case e.err != nil:
					t.Error(e.err)
				case e.m["result"] != nil:
					results++
					booked(t, Outcome{Result: e.m["result"]})
				case !strings.Contains(string(e.m["error"]), `"code":-32602`) || !strings.Contains(string(e.m["error"]), "invalid_request_state"):
					t.Errorf("refused with %s", e.m["error"])
				}
			}
			if asked, done := h.did(t, "book"); results != c.results || asked != c.results || done != 1 {
				t.Errorf("%d results; the booking was asked for %d times and made %d times", results, asked, done)
			}
		})
	}
}

// TestKilledAfterTheEffect kills a copy when the booking has been made and its answer has not left. The client sends the retry
// again, to another copy: the step is done again, with the same idempotency key, and there is one booking.
func TestKilledAfterTheEffect(t *testing.T) {
	h := newHotel(t)
	state, answers := toTheLastWord(t, h.open(t))
	cmd := exec.Command(h.program, "-addr", "127.0.0.1:0", "-bookings", h.bookings, "-key", h.key, "-slow", "1h")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test ends before it does that itself
	reaped := make(chan error, 1)
	address := make(chan string, 1)
	go func() { // ends when the process does
		text := make([]byte, 200)
		n, _ := stderr.Read(text)
		line, _, _ := strings.Cut(string(text[:n]), "\n")
		address <- strings.TrimPrefix(line, "listening on ")
		_, _ = io.Copy(io.Discard, stderr)
		reaped <- cmd.Wait()
	}()
	failed := make(chan error, 1)
	go func() {
		m, err := round(t, <-address, state, answers)
		if err == nil {
			t.Errorf("the copy that was killed has answered %s", m["result"])
		}
		failed <- err
	}()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, done := h.did(t, "book"); done == 1 {
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Error("the booking is not made")
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	<-reaped
	if err := <-failed; err == nil {
		t.Error("the call on the killed copy did not fail")
	}
	m, err := round(t, h.open(t), state, answers)
	if err != nil {
		t.Fatal(err)
	}
	booked(t, Outcome{Result: m["result"]})
	if asked, done := h.did(t, "book"); asked != 2 || done != 1 {
		t.Errorf("the booking was asked for %d times and made %d times", asked, done)
	}
}
