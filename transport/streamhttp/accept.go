package streamhttp

import (
	"strconv"
	"strings"
)

// form says in which forms an answer may be given.
type form uint8

const (
	neither    form = iota
	jsonBody        // a JSON body
	eventsBody      // an event stream
	either          // both
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// accepted reads the Accept header as RFC 9110, 12.5.1: ranges with q values, the most specific one counts, names
// without case, repeated fields joined. A header that is absent or names nothing takes everything.
func accepted(fields []string) form {
	if len(fields) == 1 && fields[0] == typeJSON+", "+typeEvents { // what nearly every client sends
		return either
	}
	if len(fields) == 0 {
		return either
	}
	var json, events choice
	named := false
	for _, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			name, params, _ := strings.Cut(part, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			named = named || name != ""
			takes := quality(params)
			json.consider(name, typeJSON, takes)
			events.consider(name, typeEvents, takes)
		}
	}
	if !named {
		return either
	}
	out := neither
	if json.taken {
		out |= jsonBody
	}
	if events.taken {
		out |= eventsBody
	}
	return out
}

// choice is what the most specific range so far says of one media type.
type choice struct {
	rank  int
	taken bool
}

func (c *choice) consider(name, media string, takes bool) {
	rank := 0
	major, _, _ := strings.Cut(media, "/")
	switch name {
	case media:
		rank = 3
	case major + "/*":
		rank = 2
	case "*/*":
		rank = 1
	}
	switch {
	case rank > c.rank:
		c.rank, c.taken = rank, takes
	case rank > 0 && rank == c.rank:
		c.taken = c.taken || takes
	}
}

// quality tells whether the parameters of a range leave it acceptable: q is not 0. What cannot be read counts as 1.
func quality(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err != nil || !(q <= 0) // NaN cannot be read either
		}
	}
	return true
}

// essence returns the media type of a Content-Type header without parameters, in lower case. Several headers have none.
func essence(fields []string) string {
	if len(fields) != 1 {
		return ""
	}
	if fields[0] == typeJSON {
		return typeJSON
	}
	name, _, _ := strings.Cut(fields[0], ";")
	return strings.ToLower(strings.Trim(name, " \t"))
}
