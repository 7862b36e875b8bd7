package seal_test

import (
	"context"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
)

// One round of a call: the state goes out with the question and comes back with the retry.
func Example() {
	ctx := context.Background()
	s, err := seal.New(seal.Options{Server: "weather"}) // a random key
	if err != nil {
		panic(err)
	}
	call := func(params string) seal.Binding {
		digest, err := seal.DigestCall("tools/call", []byte(params))
		if err != nil {
			panic(err)
		}
		return seal.Binding{Method: "tools/call", Arguments: digest}
	}

	record := seal.Record{Link: seal.Link{Chain: seal.NewChain(), Round: 1}}
	record.Once = append(record.Once, seal.OnceResult{Key: "reserve", Raw: []byte(`{"seat":"12A"}`)})
	payload, err := record.Append(nil)
	if err != nil {
		panic(err)
	}
	token, err := s.Seal(ctx, call(`{"name":"book","arguments":{"nights":2,"city":"Oslo"}}`), record.Link, payload, time.Now(), 0)
	if err != nil {
		panic(err)
	}

	opened, err := s.Open(ctx, token, call(`{"name":"book","arguments":{"city":"Oslo","nights":2.0}}`), time.Now())
	if err != nil {
		panic(err)
	}
	back, err := opened.Record()
	if err != nil {
		panic(err)
	}
	fmt.Printf("round %d: %s kept %s\n", back.Round, back.Once[0].Key, back.Once[0].Raw)

	_, err = s.Open(ctx, token, call(`{"name":"book","arguments":{"city":"Bergen","nights":2}}`), time.Now())
	fmt.Println("the peer reads:", err)
	fmt.Println("the log reads:", seal.ReasonOf(err))

	// Output:
	// round 1: reserve kept {"seat":"12A"}
	// the peer reads: the request state is invalid or has expired; send the call again without it
	// the log reads: bound_arguments
}
