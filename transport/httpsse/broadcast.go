package httpsse

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Broadcast sends one event to every open stream, and returns how many have taken it. Data of several lines arrives as
// such. It returns when all have been written to; one that does not read is cut after Options.WriteTimeout. Events of calls
// that follow one another arrive in that order.
//
// Clients that follow the rules of event streams ignore names they do not know. That of the official Go SDK (1.8) does not:
// it reads every event as a message, and ends on data that is no JSON-RPC.
//
// It fails, with nothing sent, when the name is empty or holds a line break or NUL, and when data is not UTF-8. Two names
// belong to the protocol: "endpoint" cannot be sent, and the data of a "message" must be a JSON-RPC notification, since
// that is how clients read it.
func (h *Handler) Broadcast(event string, data []byte) (viewers int, err error) {
	if err := checkEvent(event, data); err != nil {
		return 0, err
	}
	block, open := appendLines(event, data), h.sessions.All()
	const most = 64 // written to at once, so that one that does not read does not hold up all others
	var next, reached atomic.Int64
	var wg sync.WaitGroup
	for range min(most, len(open)) {
		wg.Go(func() { // ends with the list; Broadcast waits
			for i := next.Add(1) - 1; i < int64(len(open)); i = next.Add(1) - 1 {
				if to := open[i].open(); to != nil && to.Write(block) == nil {
					reached.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(reached.Load()), nil
}

func checkEvent(event string, data []byte) error {
	switch {
	case event == "":
		return errors.New("broadcast: the event has no name")
	case strings.ContainsAny(event, "\r\n\x00") || !utf8.ValidString(event):
		return fmt.Errorf("broadcast: the name %.100q holds a line break, NUL or what is not UTF-8", event)
	case event == eventEndpoint:
		return errors.New(`broadcast: the event "endpoint" belongs to the protocol; use another name`)
	case !utf8.Valid(data):
		return errors.New("broadcast: the data is not UTF-8")
	case event == sse.DefaultName:
		if m, err := jsonrpc.Decode(data, nil); err != nil || m.Kind() != jsonrpc.KindNotification {
			return errors.New(`broadcast: clients read the event "message" as JSON-RPC, so its data must be a notification; use another name for other data`)
		}
	}
	return nil
}

// appendLines makes the block of an event with one data line for each line of data.
func appendLines(event string, data []byte) []byte {
	out := append([]byte("event: "), event...)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		out = append(append(out, "\ndata: "...), line...)
	}
	return append(out, "\n\n"...)
}
