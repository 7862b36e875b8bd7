package era_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

var update = flag.Bool("update", false, "rewrite the transcripts under testdata")

// transcript is one golden file: what two peers of a revision send each other. Frames are made and read by the codecs;
// those in raw are written by hand, as a peer that breaks a rule would send them.
type transcript struct {
	era, name, prose string
	revision         string
	steps            []step
}

// step is one of: a call with its outcome, a notice, a raw frame of the client.
type step struct {
	from    era.Side
	call    *era.Outgoing
	outcome *era.Outcome
	notice  *era.Notice
	raw     string
	headers headers // of raw, over HTTP; nil for a pipe
	settled bool    // raw comes after the handshake
	silent  bool    // raw is refused on a pipe, or taken, without a word
}

// play runs a transcript and returns its text.
type play struct {
	*testing.T
	out            bytes.Buffer
	server, client era.Codec
	serving        *negotiate.Set
	check          *frameCheck
	ids            int64
}

func (tr transcript) run(t *testing.T) string {
	p := &play{T: t, serving: newSet(t, serverConfig()), check: checkFor(t, tr.revision)}
	p.server, p.client = codecs(t, tr.revision)
	fmt.Fprintf(&p.out, "# testdata/%s/%s.txt: %s\n", tr.era, tr.name, tr.prose)
	for _, s := range tr.steps {
		switch {
		case s.call != nil:
			p.call(s)
		case s.notice != nil:
			p.notice(s)
		default:
			p.raw(s)
		}
	}
	return p.out.String()
}

func (p *play) line(from era.Side, frame []byte) {
	if bytes.ContainsAny(frame, "\r\n") {
		p.Errorf("a frame has a line break: %s", frame)
	}
	who := "C"
	if from == era.ServerSide {
		who = "S"
	}
	fmt.Fprintf(&p.out, "%s> %s\n", who, frame)
}

// ends returns the codec of a side and that of the other.
func (p *play) ends(from era.Side) (mine, theirs era.Codec) {
	if from == era.ServerSide {
		return p.server, p.client
	}
	return p.client, p.server
}

func (p *play) call(s step) {
	mine, theirs := p.ends(s.from)
	p.ids++
	s.call.ID = jsonrpc.IntID(p.ids)
	frame, err := mine.AppendCall(nil, s.call)
	if err != nil {
		p.Fatal(err)
	}
	p.line(s.from, frame)
	p.check.request(p.T, frame, s.call.Method)
	m := decode(p, string(frame))
	call, err := theirs.DecodeCall(m, headersOf(mine.CallHeaders(s.call)))
	if err != nil {
		p.Fatalf("%s is refused: %v", frame, err)
	}
	p.sameParams(s.call, call)
	answer, err := era.AppendOutcome(nil, theirs, call.ID(), call.Row, s.outcome)
	if err != nil {
		p.Fatal(err)
	}
	p.line(s.from.Other(), answer)
	p.check.answer(p.T, answer, s.call.Method)
	if got, err := mine.DecodeOutcome(s.call, decode(p, string(answer))); err != nil {
		p.Errorf("%s cannot be read: %v", answer, err)
	} else if (got.Err == nil) != (s.outcome.Err == nil) || (got.Input == nil) != (s.outcome.Input == nil) {
		p.Errorf("%s is read as another kind of outcome", answer)
	}
}

// sameParams holds that the neutral params come out as they went in, but for what the codec was asked to add.
func (p *play) sameParams(out *era.Outgoing, in *era.Call) {
	if out.Token != nil || out.Meta != nil {
		return
	}
	want, got := compact(p, out.Params), compact(p, in.Params())
	if want != got && (want != "" || got != "{}") {
		p.Errorf("params went in as %s and came out as %s", want, got)
	}
}

func (p *play) notice(s step) {
	mine, theirs := p.ends(s.from)
	frame, err := mine.AppendNotice(nil, s.notice)
	if err != nil {
		p.Fatal(err)
	}
	p.line(s.from, frame)
	p.check.request(p.T, frame, s.notice.Method)
	got, ok := theirs.DecodeNotice(decode(p, string(frame)))
	if !ok {
		p.Fatalf("%s is dropped", frame)
	}
	if string(got.Subscription) != string(s.notice.Subscription) {
		p.Errorf("the subscription went in as %s and came out as %s", s.notice.Subscription, got.Subscription)
	}
}

// raw sends what a client that breaks a rule would, and writes down the refusal.
func (p *play) raw(s step) {
	for _, name := range s.headers.names() {
		fmt.Fprintf(&p.out, "H> %s: %s\n", name, s.headers[name])
	}
	p.line(era.ClientSide, []byte(s.raw))
	answer := p.judge(s)
	switch {
	case answer == nil && !s.silent:
		p.Errorf("%s was not refused", s.raw)
	case answer != nil && s.silent:
		p.Errorf("%s was answered with %s", s.raw, answer)
	case answer != nil:
		p.line(era.ServerSide, answer)
		p.check.answer(p.T, answer, "")
	}
}

func (p *play) judge(s step) []byte {
	var h era.Headers
	if s.headers != nil {
		h = s.headers
	}
	settled := p.server
	if !s.settled {
		settled = nil
	}
	if jsonrpc.IsBatch([]byte(s.raw)) {
		_, route := p.serving.ClassifyBatch([]byte(s.raw), h, settled, 0)
		return p.refusal(nil, route)
	}
	m := decode(p, s.raw)
	route := p.serving.ClassifyFrame(m, settled)
	if h != nil {
		route = p.serving.Classify(m, h, settled)
	}
	if route.Kind == negotiate.Refused || route.Kind == negotiate.Drop || m.Kind() != jsonrpc.KindRequest {
		return p.refusal(m, route)
	}
	call, err := route.Codec.DecodeCall(m, h)
	if err == nil {
		if call.Method() != m.Method {
			p.Errorf("%s came out as a call of %q", s.raw, call.Method())
		}
		return nil
	}
	var refused *era.Refusal
	if !errors.As(err, &refused) {
		p.Fatalf("%s: the error is no refusal: %v", s.raw, err)
	}
	answer, err := era.AppendOutcome(nil, route.Codec, m.ID, nil, refused.Outcome())
	if err != nil {
		p.Error(err)
	}
	return answer
}

func (p *play) refusal(m *jsonrpc.Message, route negotiate.Route) []byte {
	if route.Kind != negotiate.Refused {
		return nil
	}
	var id jsonrpc.ID // only a request is answered under its id
	if m != nil && m.Kind() == jsonrpc.KindRequest {
		id = m.ID
	}
	return jsonrpc.AppendError(nil, id, era.WriteError(route.Refusal.Err, route.Refusal.Err.Code))
}

func TestGolden(t *testing.T) {
	for _, tr := range transcripts() {
		t.Run(tr.era+"/"+tr.name, func(t *testing.T) {
			compareGolden(t, filepath.Join("testdata", tr.era, tr.name+".txt"), tr.run(t))
		})
	}
}

// TestGoldenFiles holds that every file under testdata belongs to a transcript.
func TestGoldenFiles(t *testing.T) {
	known := map[string]bool{}
	for _, era := range []string{"legacy", "modern"} {
		known[filepath.Join("testdata", era, servedFile)] = true
	}
	for _, tr := range transcripts() {
		known[filepath.Join("testdata", tr.era, tr.name+".txt")] = true
	}
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s belongs to no transcript", file)
		}
	}
}

// TestLegacyHasNoModernMember holds that no legacy frame of ours has a member that only the modern era has.
func TestLegacyHasNoModernMember(t *testing.T) {
	for _, tr := range transcripts() {
		if tr.era != "legacy" {
			continue
		}
		for _, line := range strings.Split(tr.run(t), "\n") {
			if !strings.HasPrefix(line, "S>") {
				continue
			}
			for _, name := range []string{"resultType", "ttlMs", "cacheScope", mcp.MetaServerInfo, mcp.MetaProtocolVersion} {
				if strings.Contains(line, `"`+name+`":`) {
					t.Errorf("%s: %s in %s", tr.name, name, line)
				}
			}
		}
	}
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
