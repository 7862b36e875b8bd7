package llm

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Options says which tools a model gets, and how. The zero value gives all of them.
type Options struct {
	// Profile is the API that the set is for; see openai.Chat, openai.Responses, openai.Compatible, anthropic.Messages and
	// gemini.GenerateContent.
	Profile Profile

	// Allow and Deny are patterns in which '*' stands for any run of characters. One with a '/' is held against server/tool,
	// any other against the tool's name as the server gave it. A tool is in the set when no pattern of Deny fits and, where
	// Allow is not empty, one of Allow does. What is not in the set cannot be called either.
	Allow, Deny []string

	// Aliases names tools anew, by tool or server/tool. An alias the API does not take fails the call of Tools. Of two tools
	// with one alias the first is in the set; a tool that has the alias of another as its own name is not.
	Aliases map[string]string

	// NoPrefix leaves the server's name out of the names. Of two tools with one name the first is in the set then, the other
	// among Skipped.
	NoPrefix bool

	// Strict are patterns like Allow, of tools whose calls the API is to hold to the schema. One whose schema has no strict form
	// is offered without, and so is one beyond what the API takes of strict tools; Tool.Strict tells.
	Strict []string

	// ReturnDirect are patterns like Allow, of tools whose result is the answer, without another turn of the model. See
	// [MetaReturnDirect] for how a server says so itself.
	ReturnDirect []string

	// HideUserContent keeps from the model what is annotated as meant for the user alone.
	HideUserContent bool

	// MaxTextBytes bounds the text of one result that goes to the model, MaxMediaBytes all its pictures, sounds and files
	// together, of which there are 100 at most. What is cut off is said to be. Zero means 256 KiB and 10 MiB; negative means
	// no bound.
	MaxTextBytes, MaxMediaBytes int

	// MaxParallel bounds how many calls InvokeAll has under way. Zero means 8.
	MaxParallel int

	// Approve may refuse a call at the last moment: to ask the user, say. Its error text goes to the model. It is asked about
	// tools of servers, by whatever way they are called, and several times at once where a model calls several. Nil allows all.
	Approve func(ctx context.Context, tool Tool, args json.RawMessage) error
}

func (o Options) withDefaults() Options {
	o.Profile = o.Profile.withDefaults()
	if o.MaxTextBytes == 0 {
		o.MaxTextBytes = 256 << 10
	}
	if o.MaxMediaBytes == 0 {
		o.MaxMediaBytes = 10 << 20
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = 8
	}
	return o
}

// wants tells whether the lists of patterns let a tool in.
func (o *Options) wants(server, tool string) bool {
	return !Fits(o.Deny, server, tool) && (len(o.Allow) == 0 || Fits(o.Allow, server, tool))
}

// Fits tells whether one of the patterns fits a tool of a server, as those of [Options].Allow do. It may be called
// concurrently.
func Fits(patterns []string, server, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return wild(p, tool) || strings.Contains(p, "/") && wild(p, server+"/"+tool)
	})
}

// wild tells whether a name fits a pattern, in which '*' stands for any run of characters.
func wild(pattern, name string) bool {
	head, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], next
	}
}
