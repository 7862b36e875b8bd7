package policy

import (
	"cel.dev/cel-go/cel"
)

// Variable is one name that expressions may use.
type Variable struct {
	Name  string
	Type  string // in the words of CEL
	About string

	kind *cel.Type
}

// Variables are the names that expressions may use. All are always there: what is not known is empty. What comes from a
// client's own words, or a server's, is said to be a claim.
func Variables() []Variable { return variables }

var variables = []Variable{
	{"principal.known", "bool", "whether the caller is known at all", cel.BoolType},
	{"principal.subject", "string", "who the caller is, as its issuer calls it", cel.StringType},
	{"principal.issuer", "string", "who vouches for that", cel.StringType},
	{"principal.client", "string", "the program that calls for it, as its issuer calls it", cel.StringType},
	{"principal.name", "string", "the name among the claims, or else the subject", cel.StringType},
	{"principal.scopes", "list(string)", "what the caller was granted", cel.ListType(cel.StringType)},
	{"principal.roles", "list(string)", "its roles or groups", cel.ListType(cel.StringType)},
	{"principal.claims", "map(string, dyn)", "all claims of its token", cel.MapType(cel.StringType, cel.DynType)},
	{"client.name", "string", "the program, as it calls itself: a claim", cel.StringType},
	{"client.version", "string", "its version: a claim", cel.StringType},
	{"client.address", "string", "its network address without the port; empty where there is no network", cel.StringType},
	{"method", "string", "the method, such as tools/call; for lists the one that uses a thing", cel.StringType},
	{"kind", "string", "tool, prompt, resource or template", cel.StringType},
	{"server", "string", "the server that has the thing", cel.StringType},
	{"tool", "string", "the tool, as its server calls it; empty for other kinds", cel.StringType},
	{"prompt", "string", "the prompt, likewise", cel.StringType},
	{"uri", "string", "the address of the resource, or the template, likewise", cel.StringType},
	{"shown", "string", "the name or address that clients know", cel.StringType},
	{"annotations.readOnly", "bool", "whether the tool says that it changes nothing: a claim", cel.BoolType},
	{"annotations.destructive", "bool", "whether it may destroy something, which it may unless it says otherwise: a claim", cel.BoolType},
	{"annotations.idempotent", "bool", "whether it says that twice is like once: a claim", cel.BoolType},
	{"annotations.openWorld", "bool", "whether it reaches the world outside, which it does unless it says otherwise: a claim", cel.BoolType},
	{"arguments", "map(string, dyn)", "the arguments of the call; of a completion those that are filled in, with the one in question", cel.MapType(cel.StringType, cel.DynType)},
}

// ofCall are the variables that a list does not know, and ofRequest those that news do not know.
var (
	ofCall    = []string{"arguments"}
	ofRequest = []string{"arguments", "client.address", "client.name", "client.version", "method"}
)
