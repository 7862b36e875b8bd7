package era_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// goldenFrames are the frames of all transcripts.
func goldenFrames(f *testing.F) []string {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no transcripts: %v", err)
	}
	var frames []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if frame, ok := strings.CutPrefix(line, "C> "); ok {
				frames = append(frames, frame)
			} else if frame, ok := strings.CutPrefix(line, "S> "); ok {
				frames = append(frames, frame)
			}
		}
	}
	return frames
}

// FuzzDecodeCall gives whatever is a message to the codecs of both eras, on both sides: they refuse it or hand over
// params that are JSON.
func FuzzDecodeCall(f *testing.F) {
	for _, frame := range goldenFrames(f) {
		f.Add([]byte(frame), "tools/call", "forecast")
	}
	serving, calling := newSet(f, serverConfig()), newSet(f, clientConfig())
	f.Fuzz(func(t *testing.T, frame []byte, method, name string) {
		m, err := jsonrpc.Decode(frame, negotiate.Lift)
		if err != nil {
			return
		}
		h := posted(mcp.Version20260728, method, name)
		serving.Classify(m, h, nil)
		serving.ClassifyFrame(m, nil)
		for _, set := range []*negotiate.Set{serving, calling} {
			for _, revision := range []string{mcp.Version20260728, mcp.Version20251125} {
				codec, _ := set.Codec(revision)
				for _, h := range []era.Headers{nil, h} {
					tryCall(t, codec, m, h)
				}
				if n, ok := codec.DecodeNotice(m); ok && n.Params != nil && !jsontext.Value(n.Params).IsValid() {
					t.Errorf("params of a notification: %s", n.Params)
				}
			}
		}
	})
}

func tryCall(t *testing.T, codec era.Codec, m *jsonrpc.Message, h era.Headers) {
	c, err := codec.DecodeCall(m, h)
	if err != nil {
		if refusal := (*era.Refusal)(nil); !errors.As(err, &refusal) {
			t.Errorf("the error is no refusal: %v", err)
		}
		return
	}
	if p := c.Params(); p != nil && !jsontext.Value(p).IsValid() {
		t.Errorf("params: %s", p)
	}
}

// FuzzDecodeOutcome gives whatever is an answer to the codecs of both eras: they refuse it or hand over a result that is
// an object, which the codecs can send on.
func FuzzDecodeOutcome(f *testing.F) {
	for _, frame := range goldenFrames(f) {
		for _, method := range []string{"tools/call", "tools/list", "resources/read", "elicitation/create"} {
			f.Add([]byte(frame), method)
		}
	}
	serving, calling := newSet(f, serverConfig()), newSet(f, clientConfig())
	f.Fuzz(func(t *testing.T, frame []byte, method string) {
		m, err := jsonrpc.Decode(frame, negotiate.Lift)
		if err != nil || m.Method != "" {
			return
		}
		for _, revision := range []string{mcp.Version20260728, mcp.Version20251125} {
			client, _ := calling.Codec(revision)
			o, err := client.DecodeOutcome(&era.Outgoing{Method: method}, m)
			if err != nil || o.Result == nil {
				continue
			}
			if !jsontext.Value(o.Result).IsValid() || !jsonrpc.IsObject(o.Result) {
				t.Fatalf("result: %s", o.Result)
			}
			for _, to := range []string{mcp.Version20260728, mcp.Version20251125} {
				server, _ := serving.Codec(to)
				row := rowOf(server, method, era.ServerSide)
				if sent, err := server.AppendResult(nil, row, o); err == nil && !jsontext.Value(sent).IsValid() {
					t.Errorf("%s is sent on to %s as %s", o.Result, to, sent)
				}
			}
		}
	})
}
