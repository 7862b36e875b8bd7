package replay

import "context"

// Ear hears of faults. It may be called concurrently, and must not call back.
type Ear interface {
	// Suspended hears that a run ends with a question here.
	Suspended()

	// Late hears what a run does after it has ended with a question, such as "sends progress".
	Late(what string)

	// Changed hears in which way a run has asked something else than the run before.
	Changed(what string)
}

type key struct{}

// With puts an ear into a context.
func With(ctx context.Context, ear Ear) context.Context { return context.WithValue(ctx, key{}, ear) }

// From answers the ear in a context; nil for none.
func From(ctx context.Context) Ear {
	ear, _ := ctx.Value(key{}).(Ear)
	return ear
}
