package sse

import (
	"bytes"
	"strconv"
	"time"
)

// AppendEvent appends event to dst as a block of lines with the empty line that ends it, and returns the longer slice.
//
// Data goes out as one line: line breaks are dropped, not split into several data lines, since a JSON text holds them
// between tokens only. Line breaks and NUL are dropped from Name and ID as well, for they would end the field. A
// Setting has no data line; a Comment is not for this function. Retry is rounded down to milliseconds.
func AppendEvent(dst []byte, event Event) []byte {
	if event.Name != "" {
		dst = append(dst, "event: "...)
		dst = appendField(dst, event.Name)
	}
	if event.HasID {
		dst = append(dst, "id: "...)
		dst = appendField(dst, event.ID)
	}
	if event.HasRetry {
		dst = append(dst, "retry: "...)
		dst = strconv.AppendInt(dst, int64(max(event.Retry, 0)/time.Millisecond), 10)
		dst = append(dst, '\n')
	}
	if event.Kind == Message {
		dst = append(dst, "data: "...)
		dst = appendOneLine(dst, event.Data)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// AppendComment appends a comment and an empty line, for keep-alives. Line breaks in text are dropped.
func AppendComment(dst []byte, text string) []byte {
	dst = append(dst, ": "...)
	dst = appendField(dst, text)
	return append(dst, '\n')
}

// appendOneLine copies whole runs between line breaks, of which there are hardly ever any.
func appendOneLine(dst, data []byte) []byte {
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') < 0 {
		return append(dst, data...)
	}
	for _, c := range data {
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
		}
	}
	return dst
}

func appendField(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\n' && c != '\r' && c != 0 {
			dst = append(dst, c)
		}
	}
	return append(dst, '\n')
}
