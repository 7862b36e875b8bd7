package state

import "context"

// Message is what a subscription brings.
type Message struct {
	Topic string
	Data  []byte // must not be written to

	// Lost is how many messages of this subscription went missing just before this one, 0 when none is known to have; at
	// least 1 when some have and nobody counted. Who keeps a state by messages reads that state anew.
	Lost int
}

// Bus carries small messages between replicas by topic. Its methods may be called concurrently.
//
// A message comes at most once to each subscription: it may be lost, and is never repeated. Messages that one caller
// publishes to one topic one after another arrive in that order. A publisher that subscribes hears itself. Nothing is kept
// for who subscribes later.
type Bus interface {
	// Publish hands a message to those subscribed to its topic, on every replica, and waits for none of them. data is
	// copied. heard is how many subscriptions took it, so that 0 says that nobody is there, or -1 where the bus cannot
	// tell. It fails with [ErrTooLarge] and [ErrInvalid]; then nobody got it. After another error some may have.
	Publish(ctx context.Context, topic string, data []byte) (heard int, err error)

	// Subscribe begins to take the messages of some topics. What is published after it has returned arrives, or is lost
	// to the limits. ctx bounds the subscribing alone; the subscription lasts until it is closed. It fails with
	// [ErrFull] when there are as many as may be, and with [ErrInvalid], for no topic too.
	Subscribe(ctx context.Context, topics ...string) (Subscription, error)
}

// Subscription is a bounded queue of messages. When who reads is too slow, the oldest messages in it go, and the next one
// that is read says how many ([Message.Lost]): the newest word on a matter counts most, and no publisher waits. Its
// methods may be called concurrently; each message goes to one caller of Next.
type Subscription interface {
	// Next waits for the next message. It fails with the cause of ctx, and then has taken none, and with [ErrClosed] when
	// the subscription or its bus was closed, whatever was still in the queue.
	Next(ctx context.Context) (Message, error)

	// Close ends the subscription and every Next that waits. It may be called twice.
	Close() error
}

// BusLimits bounds a bus. The zero value has the defaults; a negative number lifts a limit.
type BusLimits struct {
	// MaxQueued and MaxQueuedBytes are how many messages, and how large together, may wait in one subscription; a message
	// counts as its data and 128 bytes. One that is larger alone is too large for the bus. Zero means 1,024 and 16 MiB.
	MaxQueued      int
	MaxQueuedBytes int64

	// MaxSubscriptions is how many subscriptions one process may have. Zero means 100,000.
	MaxSubscriptions int
}

func (l BusLimits) withDefaults() BusLimits {
	l.MaxQueued = bound(l.MaxQueued, 1024)
	l.MaxQueuedBytes = bound(l.MaxQueuedBytes, 16<<20)
	l.MaxSubscriptions = bound(l.MaxSubscriptions, 100_000)
	return l
}
