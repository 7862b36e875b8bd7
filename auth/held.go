package auth

import (
	"context"
	"net/http"
)

type heldKey struct{}

// TokenOf returns the access token that the request of a handler's context was let in with: for who exchanges it for another
// (RFC 8693), and for nothing else. It must not be sent on to any server, kept longer than is needed, or logged. It is "" where
// [Options.KeepToken] is not set and where nobody has shown one.
func TokenOf(ctx context.Context) string {
	if held, ok := ctx.Value(heldKey{}).(func() string); ok {
		return held()
	}
	return ""
}

// hold puts the token of a request into a context: as a function, so that nothing that prints contexts shows it.
func hold(ctx context.Context, r *http.Request) context.Context {
	shown, err := credentialsOf(r)
	if err != nil || shown.token == "" {
		return ctx
	}
	return context.WithValue(ctx, heldKey{}, func() string { return shown.token })
}
