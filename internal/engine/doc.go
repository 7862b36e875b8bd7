// Package engine runs what both eras have in common: calls that come in and calls that go out, their cancellation,
// time limits and progress, change notices, and the state a peer keeps.
//
// An [Engine] stands above all bindings of one server or one client and implements transport.Receiver. It asks the codec
// of each exchange what the bytes mean and never knows an era or a date. User code runs under [Handler.Call] and
// [Handler.Notice] and nowhere else; a panic there is contained and reported.
//
//	binding -> Receive / Deliver -> admit (decode, register) -> run (handler, encode, answer)
//	handler with questions, legacy -> Settle (Ask: Peer.Call on the call's own stream) -> handler again
//	caller  -> Peer.Call -> register, encode, Exchange ... settle (decode) -> caller
//
// What comes in lies in engine.go (where it begins), incoming.go (one request), sending.go (its answer), inflight.go (who
// runs, who waits) and notices.go; what goes out in outgoing.go, pending.go (one call) and answers.go; what a connection
// keeps in peer.go, its end in closing.go; change notices in changes.go and listen.go.
//
// A request is registered under its id on the reader's goroutine, so that a cancellation behind it finds it. It gives the
// id back before its answer goes out and its place among the running ones after that.
//
// Goroutines: one for each request that a reader does not run itself, one for each peer's notification handlers and one
// for its change notices while there are any, and one for each cancellation on its way out. All are counted by their
// [Peer], whose Close waits for them. The change notices of a stateless listen have no peer: theirs end when the box is
// empty, each delivery within a time limit.
package engine
