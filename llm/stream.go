package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// StreamEvent is one event of a streamed answer.
type StreamEvent struct {
	Name string // of the event where the API names its events; they stand in Data as well
	Data []byte // JSON, or the word [DONE] with which some APIs end
}

// Done tells whether this is the word that ends a stream, which is no JSON.
func (e StreamEvent) Done() bool { return string(bytes.TrimSpace(e.Data)) == "[DONE]" }

// Err is the failure that an event tells of, in the forms of all vendors: an [*EndpointError]; nil where it tells of none. A
// stream begins with HTTP status 200, so this is how an endpoint says that it is overloaded half-way.
func (e StreamEvent) Err() error {
	if e.Done() {
		return nil
	}
	if !jsonrpc.IsObject(e.Data) {
		return &EndpointError{Message: "an event of the stream is no JSON object"}
	}
	if !jsontext.Value(e.Data).IsValid() {
		return &EndpointError{Message: "an event of the stream is no valid JSON"}
	}
	kind, _ := mcp.Meta(e.Data).Text("type")
	fault, _ := mcp.Member(e.Data, "error")
	if response, ok := mcp.Member(e.Data, "response"); ok && kind == "response.failed" {
		if fault, _ = mcp.Member(response, "error"); !jsonrpc.IsObject(fault) {
			fault = []byte(`{"message":"the answer has failed"}`)
		}
	}
	said := jsonrpc.IsObject(fault) || jsonrpc.IsString(fault) && string(fault) != `""`
	if !said && kind != "error" && e.Name != "error" {
		return nil
	}
	text := complaint(e.Data)
	if jsonrpc.IsObject(fault) {
		text = complaint(fault)
	}
	if text == "" {
		text = "the stream ends with an error that says nothing"
	}
	return &EndpointError{Message: cut(strings.ToValidUTF8(text, "\uFFFD"), 500)}
}

// Joiner joins the events of one streamed answer; see openai.ChatStream, openai.ResponseStream, anthropic.Stream and
// gemini.Stream.
type Joiner interface {
	// Add takes the next event, and returns what it adds to the text that people read.
	Add(StreamEvent) (text string, err error)
}

// ErrUnfinished is the error of an answer whose stream has ended before the model said that it is through. What has come can
// be shown; the last call in it may be half a call, so none may be run.
var ErrUnfinished = errors.New("the stream ended before the answer was whole")

// Text reads a stream to its end, joins its events, and yields text as it comes. An error ends it. Whoever breaks off has
// half an answer.
func Text(stream iter.Seq2[StreamEvent, error], to Joiner) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for event, err := range stream {
			piece := ""
			if err == nil {
				piece, err = to.Add(event)
			}
			if piece != "" && !yield(piece, nil) {
				return
			}
			if err != nil {
				yield("", err)
				return
			}
		}
	}
}

// ReadStream reads an event stream, for programs that ask by a client of their own. An event may have most bytes: zero means
// 10 MiB; negative means no bound. A stream that ends within an event ends before it. It yields an [*EndpointError] for an
// event that tells of a failure, and stops there; and it stops after [DONE].
func ReadStream(from io.Reader, most int64) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		events := sse.NewReader(from, most)
		for {
			e, err := events.Next()
			var large *sse.LimitError
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, sse.ErrCut):
				return // whether the answer was whole is for those to say who know its API
			case errors.As(err, &large):
				yield(StreamEvent{}, &EndpointError{Message: fmt.Sprintf("an event of the stream has more than %d bytes", large.Limit)})
				return
			case err != nil:
				yield(StreamEvent{}, &EndpointError{Message: "the stream broke off: " + err.Error(), err: err})
				return
			case e.Kind != sse.Message || len(bytes.TrimSpace(e.Data)) == 0:
				continue
			}
			event := StreamEvent{Name: e.Name, Data: bytes.ToValidUTF8(e.Data, []byte("\uFFFD"))}
			if e.Name == sse.DefaultName {
				event.Name = ""
			}
			if err := event.Err(); err != nil {
				yield(StreamEvent{}, err)
				return
			}
			if !yield(event, nil) || event.Done() {
				return
			}
		}
	}
}

// Stream is Post for a request that asks for a streamed answer. The request is sent when the loop over the events begins, and
// its end, however it comes, closes the connection. What fails is yielded as the last thing, as an [*EndpointError]. Timeout
// bounds the whole, MaxBytes one event.
//
// An endpoint that answers without streaming although it was asked to is understood: its answer is one event, or one for
// each item of a list.
func (e Endpoint) Stream(ctx context.Context, path string, auth http.Header, body []byte) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		ctx, cancel := e.bounded(ctx)
		defer cancel()
		resp, err := e.send(ctx, path, auth, body, "text/event-stream, application/json;q=0.5")
		if err != nil {
			yield(StreamEvent{}, err)
			return
		}
		defer resp.Body.Close()
		events := ReadStream(resp.Body, e.MaxBytes)
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind == "application/json" {
			whole, err := e.read(ctx, resp)
			events = unstreamed(whole, err)
		}
		for event, err := range events {
			var told *EndpointError
			switch {
			case err == nil:
			case ctx.Err() != nil:
				err = e.unreachable(ctx, err)
			case errors.As(err, &told):
				told.Message = e.clean(told.Message)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// unstreamed makes events of an answer that came at once.
func unstreamed(whole []byte, err error) iter.Seq2[StreamEvent, error] {
	return func(yield func(StreamEvent, error) bool) {
		if err != nil || !jsonrpc.IsArray(whole) {
			yield(StreamEvent{Data: whole}, err)
			return
		}
		for item := range jsonrpc.Elements(whole) {
			if !yield(StreamEvent{Data: item}, nil) {
				return
			}
		}
	}
}
