package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Ten questions may be asked, whichever way; with the eleventh a handler gets an error it can go on from.
func TestTenRoundsAndNoMore(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "by call"}, func(ctx context.Context, req *server.Request, in struct{ N int }) (string, error) {
			for i := range in.N {
				if _, err := req.Elicit(ctx, form(fmt.Sprint(i))); errors.Is(err, server.ErrCannotAsk) {
					return fmt.Sprintf("without answer %d", i), nil
				} else if err != nil {
					return "", err
				}
			}
			return "done", nil
		})
		server.AddTool(s, mcp.Tool{Name: "mixed"}, func(ctx context.Context, req *server.Request, in struct{ N int }) (string, error) {
			for i := range in.N / 2 {
				if _, err := req.Elicit(ctx, form(fmt.Sprint(i))); err != nil {
					return "", err
				}
			}
			n := len(req.State())
			if n < in.N-in.N/2 {
				return "", mcp.NeedInput().ListRoots("r").WithState(req.State() + ".")
			}
			return "done", nil
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		for _, c := range []struct{ name, arguments, want string }{
			{"by call", `{"N":10}`, saying("done")},
			{"by call", `{"N":11}`, saying("without answer 10")},
			{"mixed", `{"N":10}`, saying("done")},
			{"mixed", `{"N":11}`, "asked 10 times"},
			{"mixed", `{"N":40}`, "asked 10 times"},
		} {
			k.rounds = 0
			if got := k.call(c.name, c.arguments); !strings.Contains(got, c.want) || k.rounds != 10 {
				t.Errorf("%s %s: %s in %d rounds, want %s", c.name, c.arguments, got, k.rounds, c.want)
			}
		}
	})
}

// drawing is a server whose tool has a picture made and asks about it. Its answer to the model is a picture of size bytes.
func drawing(opts server.Options) *server.Server {
	s := newServer(opts)
	server.AddTool(s, mcp.Tool{Name: "draw"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		drawn, err := req.CreateMessage(ctx, sayHi())
		if err != nil {
			return "", err
		}
		if _, err := req.Elicit(ctx, form("good?")); err != nil {
			return "", err
		}
		picture, ok := drawn.Content[0].(*mcp.ImageContent)
		if !ok {
			return "", errors.New("no picture")
		}
		return fmt.Sprintf("%d bytes of %s", len(picture.Data), picture.MIMEType), nil
	})
	return s
}

func draws(t *testing.T, opts server.Options, revision string, size int) (string, []string) {
	t.Helper()
	k := newTalk(t, drawing(opts), revision)
	k.reply = func(method string, params json.RawMessage) string {
		if method != mcp.MethodCreateMessage {
			return string(answerTo(method, params))
		}
		picture := base64.StdEncoding.EncodeToString(make([]byte, size))
		return `{"role":"assistant","model":"m","content":{"type":"image","mimeType":"image/png","data":"` + picture + `"}}`
	}
	return k.call("draw", "{}"), k.asked
}

// What has been answered travels up to the limit; beyond it the next question is not asked, unless there is a store.
func TestSizeOfAnswers(t *testing.T) {
	both := []string{"sampling/createMessage", "good?"}
	good := func(size int) string { return saying(fmt.Sprintf("%d bytes of image/png", size)) }
	small := server.Options{MaxStateBytes: 4096}
	under := 3 // found below: the largest picture that fits
	for step := 3072; step >= 3; step = (step / 2) / 3 * 3 {
		for under+step < 3072 {
			if got, _ := draws(t, small, modern, under+step); got != good(under+step) {
				break
			}
			under += step
		}
	}
	if under < 1500 || under > 2800 {
		t.Fatalf("the largest picture has %d bytes", under)
	}
	for name, c := range map[string]struct {
		opts     server.Options
		revision string
		size     int
		fits     bool
	}{
		"at the limit":                 {small, modern, under, true},
		"over the limit":               {small, modern, under + 3, false},
		"over the limit, with a store": {server.Options{MaxStateBytes: 4096, StateStore: server.MemoryStates(0, 0)}, modern, under + 3, true},
		"legacy: nothing travels":      {small, legacy, 100_000, true},
		"the default":                  {server.Options{}, modern, 20_000, true},
		"over the default":             {server.Options{}, modern, 60_000, false},
		"over the default, in a store": {server.Options{StateStore: server.MemoryStates(0, 0)}, modern, 1_000_000, true},
		"more than a store takes":      {server.Options{StateStore: server.MemoryStates(0, 0)}, modern, 4_000_000, false},
		"without a bound":              {server.Options{MaxStateBytes: -1}, modern, 200_000, true},
		"no room in the store":         {server.Options{StateStore: server.MemoryStates(0, 100)}, modern, 60_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where frames may take as long as they take
				got, asked := draws(t, c.opts, c.revision, c.size)
				if c.fits && (got != good(c.size) || !slices.Equal(asked, both)) {
					t.Errorf("%.300s, asked %q", got, asked)
				}
				if !c.fits && (!strings.Contains(got, `"isError":true`) || !strings.Contains(got, "the state of the call") || !slices.Equal(asked, both[:1])) {
					t.Errorf("%.300s, asked %q", got, asked)
				}
			})
		})
	}
}
