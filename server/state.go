package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// StateStore keeps the states of calls that are too large to travel through the client; see [Options.StateStore].
type StateStore = seal.StateStore

// Consumer remembers which states have been used; see [Options.Consume].
type Consumer = seal.Consumer

// MemoryStates is a StateStore in the memory of this process. It holds at most so many states and so many bytes of them,
// zero or less meaning 10,000 and 64 MiB; it takes no more when it is full, until something in it expires.
func MemoryStates(states, bytes int) StateStore { return seal.NewMemoryStates(states, bytes) }

// MemoryNonces is a Consumer in the memory of this process. It holds at most so many nonces, zero or less meaning 200,000;
// when it is full retries are refused, until something in it expires.
func MemoryNonces(nonces int) Consumer { return seal.NewMemoryNonces(nonces) }

// newSealer makes what seals the states of a server's calls.
func newSealer(name string, o Options) (*seal.Sealer, error) {
	ring, err := seal.NewRing(o.StateKeys...)
	if err != nil {
		return nil, fmt.Errorf("the state keys of the options: %w", err)
	}
	return seal.New(seal.Options{Ring: ring, Server: name, MaxBytes: o.MaxStateBytes, Store: o.StateStore})
}

// maxRounds is how often one call may ask.
func (o *Options) maxRounds() int {
	switch {
	case o.MaxRounds == 0:
		return 10
	case o.MaxRounds < 0, o.MaxRounds > math.MaxUint16:
		return math.MaxUint16 // what a state counts up to
	}
	return o.MaxRounds
}

// keptLife is how long a state lives that never leaves the process, beyond the time a question may take.
const keptLife = time.Hour

// life is how long the state of a round is good for. One that waits here for the answers lives longer than they may take.
func (s *Server) life(r *Request) time.Duration {
	switch {
	case r.in.Codec.Traits().InputRounds:
		return cmp.Or(max(s.opts.StateLife, 0), seal.DefaultLife)
	case s.opts.AskTimeout < 0:
		return math.MaxInt64 / 4
	}
	return max(s.opts.AskTimeout, 10*time.Minute) + keptLife
}

// bindingOf is what a retry must have in common with the call that asked.
func bindingOf(r *Request) (seal.Binding, error) {
	digest, err := seal.DigestCall(r.Method(), r.in.Message.Params)
	return seal.Binding{Method: r.Method(), Arguments: digest, Principal: r.Principal().Key()}, err
}

// nextRecord begins what the next run has to know: the place in the chain, and what has been asked, done and told so far.
func (r *Request) nextRecord() *seal.Record {
	record := &seal.Record{Link: seal.Link{Round: uint16(min(r.rounds()+1, math.MaxUint16))}, Progress: r.progress()}
	if a := r.asks.Load(); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		record.Chain, record.Answers, record.Once = a.chain, slices.Clone(a.answers), slices.Clone(a.once)
	} else if r.record != nil {
		record.Chain, record.Answers, record.Once = r.record.Chain, r.record.Answers, r.record.Once
	} else {
		record.Chain = seal.NewChain()
	}
	return record
}

// rounds is how often the call has asked so far.
func (r *Request) rounds() int {
	n := r.Run() - 1
	if a := r.asks.Load(); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		n += a.rounds
	}
	return n
}

// sealRecord makes the state that travels with a round: what was asked, what the handler keeps, and the place in the chain.
// The answer is a JSON string. It is made before anything is sent, so a state that is too large asks nobody.
func (s *Server) sealRecord(r *Request, record *seal.Record) (json.RawMessage, error) {
	binding, err := bindingOf(r)
	if err != nil {
		return nil, err
	}
	payload, err := record.Append(nil)
	if err != nil {
		return nil, err
	}
	token, err := s.sealer.Seal(r.in.Context(), binding, record.Link, payload, time.Now(), s.life(r))
	if err != nil {
		return nil, err
	}
	return jsonrpc.AppendString(nil, token), nil
}

// openRetry judges the material of a retry before a handler sees it (row 12), and opens its state. Answers without a state
// are served as they are: there is nothing to check them against.
func (s *Server) openRetry(ctx context.Context, r *Request) *era.Outcome {
	if refusal := checkShape(r); refusal != nil {
		return refusal
	}
	r.byCall.Store(true)
	if r.token == nil || r.record != nil { // a middleware may run a request again
		return nil
	}
	record, err := s.openState(ctx, r)
	switch {
	case errors.Is(err, seal.ErrInvalid):
		s.logger().LogAttrs(ctx, slog.LevelInfo, "mcp: the state of a retry was refused",
			slog.String("method", r.Method()), slog.String("name", r.Name()), slog.String("reason", string(seal.ReasonOf(err))))
		return badState()
	case err != nil:
		return s.failure(r, fmt.Errorf("open the state of a retry: %v", err))
	}
	r.record, r.run = record, int(record.Round)+1
	checked := s.checkedAnswers(r, record.Asked)
	if record.ByCall {
		record.Fill(checked)
		checked = keptAnswers(record)
	}
	r.answers = checked
	r.goesOn(record.Progress)
	return nil
}

// openState opens the state that a retry brings, and uses it up where states are good for one use.
func (s *Server) openState(ctx context.Context, r *Request) (*seal.Record, error) {
	binding, err := bindingOf(r)
	if err != nil {
		return nil, seal.ErrInvalid // no call like this has ever asked
	}
	opened, err := s.sealer.Open(ctx, text(r.token), binding, time.Now())
	if err != nil {
		return nil, err
	}
	record, err := opened.Record()
	if err != nil || s.opts.Consume == nil {
		return record, err
	}
	return record, opened.Use(ctx, s.opts.Consume)
}

// badState is the one answer to every state that must not be used: why is for the log alone.
func badState() *era.Outcome {
	err := mcp.InvalidParams("Invalid or expired requestState")
	return invalid(err.WithData(map[string]string{"reason": "invalid_request_state"}))
}

// Again implements era.Rerun: the next run, with what the engine was answered.
func (a *asked) Again(ctx context.Context, answers, state json.RawMessage) *era.Outcome {
	before := (*Request)(a)
	next := &Request{server: before.server, in: before.in, first: before.first, responses: answers, token: state, run: before.Run() + 1}
	if next.first == nil {
		next.first = before
	}
	return (*dispatcher)(next.server).dispatch(next.under(ctx), next)
}
