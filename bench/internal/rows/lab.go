package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/child"
)

// Lab is where rows are measured: the built servers and the size of the loads. It belongs to one goroutine.
type Lab struct {
	Conns    int           // HTTP connections
	Streams  int           // open streams of the memory rows
	Duration time.Duration // of one measurement
	Wrk      string        // path of wrk for the HTTP rows; empty means the bench's own senders

	dir      string
	programs map[string]string // package -> program
}

// NewLab builds the servers of the peers into a folder for temporary files. Progress gets a line for each. Close
// removes the folder.
func NewLab(ctx context.Context, peers []Peer, progress io.Writer) (*Lab, error) {
	dir, err := os.MkdirTemp("", "rialto-bench-")
	if err != nil {
		return nil, err
	}
	lab := &Lab{Conns: 16, Streams: 2000, Duration: 500 * time.Millisecond, dir: dir, programs: map[string]string{}}
	for _, p := range peers {
		for _, pkg := range []string{p.server, p.front} {
			if pkg == "" || lab.programs[pkg] != "" {
				continue
			}
			fmt.Fprintf(progress, "building %s\n", pkg)
			if lab.programs[pkg], err = child.Build(ctx, dir, pkg); err != nil {
				return nil, errors.Join(err, lab.Close())
			}
		}
	}
	return lab, nil
}

// Close removes what NewLab has made.
func (l *Lab) Close() error { return os.RemoveAll(l.dir) }
