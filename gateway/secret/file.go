package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"
)

// file gives the content of a file without its last line end.
func (o Options) file(_ context.Context, ref string) (string, error) {
	return readFile(o.path(ref), o.Warn)
}

// readFile reads a file of one secret. Its errors name no path: that stands in the reference.
func readFile(path string, warn func(string)) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", unreadable(err)
	}
	if !info.Mode().IsRegular() { // a pipe might keep its reader waiting for ever
		return "", errors.New("it is no regular file; name one that holds the secret and nothing else")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(err)
	}
	defer func() { _ = f.Close() }() // it was read only
	raw, err := io.ReadAll(io.LimitReader(f, maxValue+1))
	text := trimEnd(string(raw))
	switch {
	case err != nil:
		return "", unreadable(err)
	case len(raw) > maxValue:
		return "", errors.New("the file is larger than 64 KiB; it should hold the secret and nothing else")
	case text == "":
		return "", errors.New("the file is empty; write the secret into it")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", errors.New("the file is not UTF-8 text; save it as that")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0 {
		warn(fmt.Sprintf("every user of this machine can read %s; chmod o-r takes that away", path))
	}
	return text, nil
}

// unreadable says why a file cannot be read, without its path.
func unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file; a relative path begins where the configuration is")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("the file may not be read; give the user that runs rialto the right to")
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("the file cannot be read: %w", err)
}
