package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
)

// ErrHandle is what [OpenHandle] answers to every handle that must not be used: one that is altered, expired, made for
// another principal, kind or server, or under keys that are gone. Why is for the log alone. Its text is fit for a model.
var ErrHandle = errors.New("this handle is not valid or has expired; ask for a new one")

// handleMethod binds a handle apart from the states of calls: no method is named like it.
const handleMethod = "\x00handle/"

// NewHandle makes a handle: a text that stands for value and that the client brings back as an argument of a later call.
// It takes the place of what a session would remember (a basket, an open file, the place in a search), works in both eras,
// and keeps nothing on the server: the value is sealed into it with [Options.StateKeys], so every replica that has the key
// opens it, and the client can neither read nor change it. Who sends it twice gets the same value twice.
//
// A handle opens for the principal of req alone, for handles of the same kind, and for life; zero or less means 10 minutes.
// The value goes through encoding/json. What is larger than [Options.MaxStateBytes] goes into [Options.StateStore], and is an
// error where there is none.
func NewHandle[T any](ctx context.Context, req *Request, kind string, value T, life time.Duration) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("a handle for a %s: %w", kind, err)
	}
	token, err := req.server.sealer.Seal(ctx, handleBinding(req, kind), seal.Link{}, raw, time.Now(), life)
	if err != nil {
		return "", fmt.Errorf("a handle for a %s: %w", kind, err)
	}
	return token, nil
}

// OpenHandle returns the value of a handle that [NewHandle] made for the same principal and kind. It fails with [ErrHandle],
// or with another error where the state store or the machine failed.
func OpenHandle[T any](ctx context.Context, req *Request, kind, handle string) (T, error) {
	var value T
	opened, err := req.server.sealer.Open(ctx, handle, handleBinding(req, kind), time.Now())
	switch {
	case errors.Is(err, seal.ErrInvalid):
		req.server.logger().LogAttrs(ctx, slog.LevelInfo, "mcp: a handle was refused", slog.String("kind", kind),
			slog.String("method", req.Method()), slog.String("name", req.Name()), slog.String("reason", string(seal.ReasonOf(err))))
		return value, ErrHandle
	case err != nil:
		return value, fmt.Errorf("open the handle of a %s: %w", kind, err)
	}
	if err := json.Unmarshal(opened.Payload, &value); err != nil { // made by another release of this program
		return value, fmt.Errorf("%w: %v", ErrHandle, err)
	}
	return value, nil
}

func handleBinding(req *Request, kind string) seal.Binding {
	return seal.Binding{Method: handleMethod + kind, Principal: req.Principal().Key()}
}
