// Package engine runs what both eras have in common: calls that come in and calls that go out, their cancellation,
// time limits and progress, change notices, and the state a peer keeps.
//
// An [Engine] stands above all bindings of one server or one client and implements transport.Receiver. It asks the codec
// of each exchange what the bytes mean and never knows an era or a date. User code runs under [Handler.Call] and
// [Handler.Notice] and nowhere else; a panic there is contained and reported.
//
//	binding -> Receive / Deliver -> admit (decode, register) -> run (handler, encode, answer)
//	caller  -> Peer.Call -> register, encode, Exchange ... settle (decode) -> caller
//
// Goroutines: one for each request that a reader delivers, one for each peer's notification handlers while there are any,
// and one for each cancellation on its way out. All belong to a [Peer], whose Close waits for them.
package engine
