package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A client sees notes come, change and go.
func TestNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, conn := mcptest.NewPeer(t)
		served := make(chan error, 1)
		go func() { served <- newServer(server.Options{}).Serve(context.Background(), conn) }()
		peer.Send(hello)
		peer.Expect(`{"id":0,"result":{"capabilities":{"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}}}`)
		peer.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		peer.Send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:to%20do"}}`)
		peer.Expect(`{"id":1,"result":{}}`)

		peer.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_note","arguments":{"title":"to do","text":"buy milk"}}}`)
		notices := map[string]bool{}
		for range 3 { // the answer and two notices, in no order that is promised
			m := peer.Next()
			notices[m.Method] = true
			if m.Method == "" && !strings.Contains(string(m.Result), `"uri":"note:to%20do"`) {
				t.Errorf("want a link to the note, got %s", m.Frame())
			}
		}
		if !notices["notifications/resources/list_changed"] || !notices["notifications/resources/updated"] {
			t.Errorf("the client heard only of %v", notices)
		}
		peer.Send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"note:to%20do"}}`)
		peer.Expect(`{"id":3,"result":{"contents":[{"uri":"note:to%20do","text":"buy milk"}]}}`)

		peer.Send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"drop_note","arguments":{"title":"to do"}}}`)
		peer.Expect(`{"id":4,"result":{"content":[{"text":"dropped"}]}}`)
		peer.Expect(`{"method":"notifications/resources/list_changed"}`)
		peer.Send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"drop_note","arguments":{"title":"to do"}}}`)
		peer.Expect(`{"id":5,"result":{"isError":true,"content":[{"text":"there is no note \"to do\""}]}}`)
		peer.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// The program itself, as a client starts it.
func TestProgram(t *testing.T) {
	if os.Getenv("RUN_PROGRAM") == "1" {
		main()
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgram$")
	cmd.Env = append(os.Environ(), "RUN_PROGRAM=1")
	cmd.Stdin = strings.NewReader(hello + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if line, _, _ := strings.Cut(string(out), "\n"); !strings.Contains(line, `"name":"notes"`) || !strings.Contains(line, `"id":0`) {
		t.Errorf("want the greeting on the first line, got %q", out)
	}
}
