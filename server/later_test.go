package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// inBubble runs one script in both eras, in a bubble where time is cheap.
func inBubble(t *testing.T, opts server.Options, add func(s *server.Server), script func(t *testing.T, k *talk)) {
	t.Helper()
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(opts)
				add(s)
				script(t, newTalk(t, s, revision))
			})
		})
	}
}

// A handler that waits without a question: a modern client is sent away, a legacy one waits, and each is told everything once.
func TestLater(t *testing.T) {
	begun := time.Time{}
	add := func(s *server.Server) {
		begun = time.Time{}
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			if begun.IsZero() {
				begun = time.Now()
			}
			for i := range 3 {
				req.Log(ctx, mcp.LevelInfo, "", i)
				if err := req.Later(ctx); err != nil {
					return "", err
				}
			}
			roots, err := req.ListRoots(ctx)
			if err != nil {
				return "", err
			}
			return roots.Roots[0].URI, nil
		})
	}
	inBubble(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got := k.call("x", "{}"); got != saying("file:///home") {
			t.Error(got)
		}
		want := 1750 * time.Millisecond // 250 ms, 500 ms, 1 s
		rounds := 1
		if k.revision == modern {
			want, rounds = 0, 4
		}
		if waited := time.Since(begun); waited != want || k.rounds != rounds {
			t.Errorf("waited %s in %d rounds", waited, k.rounds)
		}
		if want := []string{"log 0", "log 1", "log 2"}; !slices.Equal(k.told, want) {
			t.Errorf("told %q", k.told)
		}
	})
}

// A handler cannot be sent away for ever.
func TestLaterHasAnEnd(t *testing.T) {
	s := newServer(server.Options{MaxRounds: 3})
	runs := 0
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		runs++
		for {
			if err := req.Later(ctx); err != nil {
				return "", err
			}
		}
	})
	k := newTalk(t, s, modern)
	if got := k.call("x", "{}"); !strings.Contains(got, "asked 3 times") || runs != 4 {
		t.Errorf("%s after %d runs", got, runs)
	}
}

// shortWaits are shorter than the peers of these tests are patient.
var shortWaits = server.Options{UntilWait: 5 * time.Second, AskTimeout: 9 * time.Second}

// payment is a page, and what it knows.
type payment struct {
	polls, sent int
	done        func(polls int) bool
}

func (p *payment) add(s *server.Server) {
	p.polls, p.sent = 0, 0
	server.AddTool(s, mcp.Tool{Name: "pay"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		page := mcp.ElicitURLParams{Message: "Pay here", URL: "https://example.com/pay", ElicitationID: "an id"}
		answer, err := req.ElicitURL(ctx, page)
		switch {
		case err != nil:
			return "", err
		case !answer.Accepted():
			return "not paid: " + string(answer.Action), nil
		}
		req.Log(ctx, mcp.LevelInfo, "", "wait")
		err = req.Until(ctx, func(context.Context) (bool, error) {
			p.polls++
			return p.done(p.polls), nil
		})
		if err != nil {
			return "", err
		}
		req.Log(ctx, mcp.LevelInfo, "", "paid")
		_, err = req.ListRoots(ctx)
		return "thanks", err
	})
}

// A handler waits for what the user does on a page: within one run when it comes soon; beyond that a modern client is sent to
// the page again, and a legacy one waits on.
func TestUntil(t *testing.T) {
	for name, c := range map[string]struct {
		polls  int // that it takes
		rounds int // of a modern client
	}{"at once": {1, 2}, "soon": {3, 2}, "after a while": {6, 3}} {
		t.Run(name, func(t *testing.T) {
			p := &payment{done: func(n int) bool { return n == c.polls }}
			inBubble(t, shortWaits, p.add, func(t *testing.T, k *talk) {
				got := k.call("pay", "{}")
				told, rounds, polls := []string{`log "wait"`, "page done", `log "paid"`}, 2, c.polls
				if k.revision == modern {
					told, rounds, polls = []string{`log "wait"`, `log "paid"`}, c.rounds, c.polls+1 // and once more in the last run
				}
				if got != saying("thanks") || p.polls != polls {
					t.Errorf("%s after %d polls", got, p.polls)
				}
				if !slices.Equal(k.told, told) || k.rounds != rounds {
					t.Errorf("told %q in %d rounds, asked %q", k.told, k.rounds, k.asked)
				}
			})
		})
	}
}

// The wait for a page ends with the time there is, with what the user does, and with the call.
func TestUntilEnds(t *testing.T) {
	never := &payment{done: func(int) bool { return false }}
	t.Run("time", func(t *testing.T) {
		inBubble(t, shortWaits, never.add, func(t *testing.T, k *talk) {
			begun := time.Now()
			if got, want := k.call("pay", "{}"), `still open: Pay here (https://example.com/pay)`; !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			least, rounds := 8*time.Second, 1
			if k.revision == modern {
				least, rounds = 30*time.Second, 10
			}
			if waited := time.Since(begun); waited < least || k.rounds != rounds {
				t.Errorf("waited %s in %d rounds", waited, k.rounds)
			}
		})
	})
	t.Run("the user goes away", func(t *testing.T) {
		inBubble(t, shortWaits, never.add, func(t *testing.T, k *talk) {
			k.reply = func(string, json.RawMessage) string {
				if k.revision == legacy || len(k.asked) == 2 {
					return `{"action":"cancel"}`
				}
				return `{"action":"accept"}`
			}
			if got := k.call("pay", "{}"); got != saying("not paid: cancel") {
				t.Error(got)
			}
		})
	})
	t.Run("poll fails", func(t *testing.T) {
		broken := errors.New("the page is broken")
		add := func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				err := req.Until(ctx, func(context.Context) (bool, error) { return true, broken })
				if !errors.Is(err, broken) {
					t.Errorf("got %v", err)
				}
				return "", err
			})
		}
		inBubble(t, server.Options{}, add, func(t *testing.T, k *talk) {
			if got := k.call("x", "{}"); !strings.Contains(got, broken.Error()) {
				t.Error(got)
			}
		})
	})
	t.Run("without a page", func(t *testing.T) {
		polls := 0
		add := func(s *server.Server) {
			polls = 0
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				return "done", req.Until(ctx, func(context.Context) (bool, error) { polls++; return polls == 4, nil })
			})
		}
		inBubble(t, server.Options{UntilWait: -1}, add, func(t *testing.T, k *talk) {
			if got := k.call("x", "{}"); got != saying("done") || len(k.asked) > 0 || k.revision == modern && k.rounds != 3 {
				t.Errorf("%s in %d rounds, asked %q", got, k.rounds, k.asked)
			}
		})
	})
	t.Run("the call is cancelled", func(t *testing.T) {
		ended := make(chan error, 1)
		add := func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "x"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
				// the wrong context: the wait ends with the call all the same
				ended <- req.Until(context.Background(), func(context.Context) (bool, error) { return false, nil })
				return "", nil
			})
		}
		inBubble(t, server.Options{}, add, func(t *testing.T, k *talk) {
			k.start("tools/call", `"name":"x"`)
			time.Sleep(time.Second)
			cancelLast(k.wire)
			if err := <-ended; err == nil || errors.Is(err, server.ErrStillOpen) {
				t.Errorf("ended with %v", err)
			}
		})
	})
}

// cancelLast cancels the last request.
func cancelLast(w *wire) {
	w.t.Helper()
	id, err := json.Marshal(w.lastID)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + string(id) + `}}`)
}

// A question asked under a context of the handler's own making ends with the call on the legacy era, too.
func TestQuestionUnderAnotherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := newServer(server.Options{})
		server.AddTool(s, mcp.Tool{Name: "x"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
			_, err := req.ListRoots(context.Background())
			ended <- err
			return "", nil
		})
		w := dialWith(t, s, legacy, everything)
		w.start("tools/call", `"name":"x"`)
		w.Expect(`{"method":"roots/list"}`)
		begun := time.Now()
		cancelLast(w)
		if err := <-ended; err == nil || time.Since(begun) > time.Second {
			t.Errorf("ended with %v after %s", err, time.Since(begun))
		}
		w.Expect(`{"method":"notifications/cancelled"}`)
	})
}
