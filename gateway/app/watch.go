package app

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// lookEvery is the time between two looks at a file.
const lookEvery = time.Second

// racy is how old a file must be before its size and time alone tell that it is the same: file systems count time in steps,
// and two writes within one step look alike.
const racy = 2 * time.Second

// watch finds out whether a file says something else than before. It looks now and then instead of asking the system for
// notices: those do not come from network mounts, miss files that editors replace by rename and folders that are swapped
// behind a link, and come for writes that are half done. What is new counts when two looks in a row have found it.
type watch struct {
	path string
	used [sha256.Size]byte // what has been taken up, or refused

	info    fs.FileInfo // at the last look; nil when the file was not there
	calm    bool        // and so old that the next write will show in it
	waiting bool        // something new was found by the last look
	found   [sha256.Size]byte
	away    int // looks in a row that have found no file
}

// sight is what a look has found.
type sight uint8

const (
	sightSame    sight = iota // nothing to do, or not yet
	sightNew                  // the file says something else
	sightMissing              // the file has gone; said once
)

func newWatch(path string, used []byte) *watch { return &watch{path: path, used: sha256.Sum256(used)} }

func (w *watch) look() sight {
	info, err := os.Stat(w.path)
	if err != nil {
		w.info, w.waiting = nil, false
		if w.away++; w.away == 2 { // a file that is being replaced is there again at the next look
			return sightMissing
		}
		return sightSame
	}
	w.away = 0
	if w.calm && !w.waiting && w.info != nil && os.SameFile(info, w.info) && info.Size() == w.info.Size() && info.ModTime().Equal(w.info.ModTime()) {
		return sightSame
	}
	w.info, w.calm = info, time.Since(info.ModTime()) > racy
	sum := w.sum()
	switch {
	case sum == w.used:
		w.waiting = false
	case w.waiting && sum == w.found:
		w.used, w.waiting = sum, false
		return sightNew
	default:
		w.waiting, w.found = true, sum
	}
	return sightSame
}

// accept says that what the file says now is being taken up anyway.
func (w *watch) accept() { w.used, w.waiting = w.sum(), false }

// moved tells whether the file says something else by now than what is being taken up.
func (w *watch) moved() bool { return w.sum() != w.used }

// sum is zero for a file that cannot be read: that is something new as well, and who reads it says why.
func (w *watch) sum() (sum [sha256.Size]byte) {
	f, err := os.Open(w.path)
	if err != nil {
		return sum
	}
	defer func() { _ = f.Close() }() // only read from
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, manager.DefaultMaxBytes+1)); err != nil {
		return sum
	}
	return [sha256.Size]byte(h.Sum(nil))
}
