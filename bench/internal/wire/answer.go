package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxBody bounds one answer, so that a broken server cannot fill the memory of the bench.
const maxBody = 1 << 20

// Answer is one HTTP/1.1 response. Reading into the same value again reuses its body.
type Answer struct {
	Status  int
	Session string // the session id header, or empty
	Body    []byte // valid until the next read; empty for an event stream read by ReadHead

	length  int64 // -1 when no length was given
	chunked bool
}

var (
	errHead   = errors.New("malformed response head")
	errLength = errors.New("malformed length of a response body")
	errSize   = errors.New("response body over 1 MiB")
)

// Read reads a whole response that is delimited by its length or by chunks. It fails on anything else, and the
// connection cannot be used after a failure.
func (a *Answer) Read(r *bufio.Reader) error {
	if err := a.ReadHead(r); err != nil {
		return err
	}
	switch {
	case a.chunked:
		return a.readChunks(r)
	case a.length > maxBody:
		return errSize
	case a.length < 0 && a.Status != 204:
		return errLength
	case a.length > 0:
		return a.readBody(r, int(a.length))
	}
	return nil
}

// ReadHead reads the status line and the headers and leaves the body where it is.
func (a *Answer) ReadHead(r *bufio.Reader) error {
	*a = Answer{Body: a.Body[:0], length: -1}
	line, err := readLine(r)
	if err != nil {
		return err
	}
	if len(line) < 12 || string(line[:9]) != "HTTP/1.1 " {
		return errHead
	}
	if a.Status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return errHead
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		if err := a.header(line); err != nil {
			return err
		}
	}
}

func (a *Answer) header(line []byte) error {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return errHead
	}
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil {
			return errLength
		}
		a.length = int64(n)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		a.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte(SessionHeader)):
		a.Session = string(value)
	}
	return nil
}

func (a *Answer) readChunks(r *bufio.Reader) error {
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 32)
		if err != nil {
			return errLength
		}
		if len(a.Body)+int(n) > maxBody {
			return errSize
		}
		if err := a.readBody(r, int(n)); err != nil {
			return err
		}
		if line, err := readLine(r); err != nil || len(line) != 0 {
			return errors.Join(errLength, err)
		}
		if n == 0 {
			return nil
		}
	}
}

func (a *Answer) readBody(r *bufio.Reader, n int) error {
	start := len(a.Body)
	if cap(a.Body)-start < n {
		a.Body = append(make([]byte, 0, 2*(start+n)), a.Body...)
	}
	a.Body = a.Body[:start+n]
	_, err := io.ReadFull(r, a.Body[start:])
	return err
}

func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("read a response: %w", err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}
