package transport

import (
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Loser is a [Peer] whose calls can fail because their answer was lost. It may be called concurrently.
type Loser interface {
	// Lost fails the call under an id, and tells whether there is one.
	Lost(id jsonrpc.ID, err error) bool
}

// LoseBroken is Lose for a frame that is no message; why says what is wrong with it.
func LoseBroken(p Peer, frame []byte, why error) bool {
	const most = 256
	return Lose(p, &FrameError{
		Text:  fmt.Sprintf("the answer is no JSON-RPC message: %v", why),
		Start: frame[:min(len(frame), most)], End: frame[max(0, len(frame)-most):],
	})
}

// Lose fails the call that a frame which could not be taken is the answer to, where its id can be read. It tells whether there
// is such a call; the others wait on.
func Lose(p Peer, bad *FrameError) bool {
	loser, ok := p.(Loser)
	if !ok {
		return false
	}
	id, ok := jsonrpc.AnswerID(bad.Start, bad.End)
	if !ok {
		return false
	}
	text := bad.Text
	if bad.Limit > 0 {
		text = fmt.Sprintf("the answer is larger than %d bytes, and was skipped", bad.Limit)
	}
	return loser.Lost(id, &FrameError{Limit: bad.Limit, Text: text, Start: bad.Start, End: bad.End})
}
