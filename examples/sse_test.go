package examples

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rialto-mcp/rialto/server"
)

// Clients of 2024 have two addresses of their own beside the one for all others. Pages may look on.
func Example_oldClients() {
	s := newShop(server.Options{})
	mux := http.NewServeMux()

	// [sse]
	mux.Handle("/mcp", s.Handler())
	old := s.SSEHandler() // a stream at /sse, messages to /message
	mux.Handle("/sse", old)
	mux.Handle("/message", old)
	// [end]

	web := httptest.NewServer(mux)
	defer web.Close()
	defer old.Close()
	answer, err := http.Get(web.URL + "/sse")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()

	// [broadcast]
	viewers, err := s.Broadcast("sold", []byte("an apple"))
	// [end]

	fmt.Println(viewers, err)
	for lines := bufio.NewScanner(answer.Body); lines.Scan() && lines.Text() != "data: an apple"; {
		line, _, _ := strings.Cut(lines.Text(), "?") // an id follows
		fmt.Println(line)
	}
	// Output:
	// 1 <nil>
	// event: endpoint
	// data: /message
	//
	// event: sold
}
