package transport

import (
	"bytes"
	"errors"
)

// ErrEmptyFrame is returned by Write for a frame without content: an empty line would vanish on the way.
var ErrEmptyFrame = errors.New("empty frame")

// AppendFrame appends frame to dst without its line breaks, and returns the longer slice. In a JSON text raw line
// breaks stand between tokens only, so nothing is lost; what is appended fits on one line.
func AppendFrame(dst, frame []byte) []byte {
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return append(dst, frame...)
	}
	for _, c := range frame {
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
		}
	}
	return dst
}
