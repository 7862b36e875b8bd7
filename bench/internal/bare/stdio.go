package bare

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
)

// RunStdio answers each line of standard input on the goroutine that reads it, until the input ends.
func RunStdio(context.Context) error { return serveLines(os.Stdin, os.Stdout) }

func serveLines(in io.Reader, out io.Writer) error {
	results := newResults()
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := results.answer(line)
		if err != nil {
			return err
		}
		if answer == nil {
			continue
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}
