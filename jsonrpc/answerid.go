package jsonrpc

import "regexp"

// AnswerID tells which request a message answers, from the first and the last bytes of it, which may be cut anywhere: for a
// message that is too large to be kept. end may be empty. It answers false for what is no single answer, as far as can be
// seen, and where the id stands in neither part.
func AnswerID(start, end []byte) (ID, bool) {
	var raw []byte
	answers := false
	for f := range Fields(start) {
		switch {
		case f.Is("method"):
			return ID{}, false
		case f.Is("id"):
			raw = f.Value // whole only if another member follows
		case f.Is("result"), f.Is("error"):
			answers = true
		}
		if answers {
			break
		}
	}
	if !answers {
		return ID{}, false
	}
	if raw == nil {
		raw = lastID(end)
	}
	id, err := ParseID(raw)
	return id, err == nil
}

// idAtEnd matches an id that stands last in a message, or before the version alone. No brace may stand between the id and the
// end, so it is one of the message itself and of nothing inside it; quotation marks inside a string would be escaped.
var idAtEnd = regexp.MustCompile(`[{,]\s*"id"\s*:\s*(-?[0-9]+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// lastID returns the token of the id near the end of a message, nil where there is none.
func lastID(end []byte) []byte {
	if found := idAtEnd.FindSubmatch(end); found != nil {
		return found[1]
	}
	return nil
}
