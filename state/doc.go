// Package state carries what must outlive one process, so that any replica can serve any legacy session: the records of
// sessions ([SessionStore]), the events of their streams ([EventLog]) and word from one replica to another ([Bus]).
//
// The three are interfaces. [MemorySessions], [MemoryLog] and [MemoryBus] are the bounded versions for one process,
// which several servers in it may share; an engine for many processes keeps the same promises elsewhere. What a caller
// may rely on stands at the interfaces, and package statetest holds every implementation to it. The modern era keeps no
// sessions and needs none of this, except a Bus where a change on one replica must be heard on the others.
//
// # What belongs where
//
//   - A session is its record. Nothing may reach the rest of it (a connection, a running call) by its id without asking
//     the store first: an id the store does not know is no session, whatever this process still holds of it.
//   - An event is stored before it is written to a client, and its id comes from the log. Who resumes a stream reads the
//     log, on whichever replica; who follows one reads what others store.
//   - A message on the bus may be lost. So the bus wakes, asks and announces, and nothing that must arrive travels on it
//     alone: a frame for a client goes into the log, an answer that does not come is a failed question ([Ask], [Answer]).
//     Where others can write to the bus, [Sign] keeps them from speaking for a replica.
//
// # Names and sizes
//
// Ids of sessions, names of streams and topics are 1 to 512 bytes of visible ASCII (0x21 to 0x7E). What breaks that is
// refused with [ErrInvalid] where something would be made, and is as unknown as any other id where something is looked up.
// Everything kept is bounded, and the error that says so is [ErrFull] or [ErrTooLarge]. No error text holds an id of a
// session or the content of a message.
//
// # Contexts
//
// The context of a method bounds that method alone. When it has ended before the work began, nothing was done and the
// error is its cause. An engine that reaches over a network may fail without knowing whether the work was done; each
// interface says what a caller can do then.
package state
