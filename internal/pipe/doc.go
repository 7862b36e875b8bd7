// Package pipe carries both eras on one [transport.Conn]: standard input and output, memory, or a user's own wire.
//
// [Serve] is the server's end: each frame is judged by itself (negotiate.Set.ClassifyFrame), so one process serves both eras at once.
// [Dial] is the client's end, where the era is that of the connection.
package pipe
