package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// file is what the writer needs of one.
type file interface {
	Write(p []byte) (int, error) // appends
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// osFile is a file of the system.
type osFile struct{ *os.File }

// pipe is a file of the system that is none on a disk, standard output of a container say: it does not grow, and cannot be cut.
type pipe struct{ *os.File }

func (pipe) Size() (int64, error) { return 0, nil }
func (pipe) Sync() error          { return nil }

// Size implements file.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// openFile opens a log for appending; one that is made is its owner's alone. When the machine went down in the middle of a
// line, what comes begins a new one.
func openFile(path string) (file, error) {
	const ownerOnly = 0o600
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, ownerOnly)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return pipe{f}, nil
	}
	if endsWithin(path, info.Size()) {
		if _, err := f.WriteString("\n"); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return osFile{f}, nil
}

// endsWithin tells whether a file of a size ends within a line. One that may not be read is taken to be whole.
func endsWithin(path string, size int64) bool {
	f, err := os.Open(path)
	if err != nil || size == 0 {
		return false
	}
	defer func() { _ = f.Close() }() // only read from
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// mostAtOnce bounds one write.
const mostAtOnce = 1 << 20

// writer is the goroutine that owns the file.
type writer struct {
	audit *Audit
	opts  AuditOptions
	file  file // nil for none
	dirty bool // something was written and not handed to the disk yet
	torn  bool // the file ends in the middle of a line

	shutIn  bool      // the file was closed to be renamed, and no other opened yet
	patient time.Time // until when a full file is not renamed, since it could not be
}

// run writes until the log is closed.
func (w *writer) run() {
	var later <-chan time.Time // when to hand over, or to try again
	failed := false
	for {
		select {
		case <-w.audit.wake:
			if failed && later != nil && !w.audit.changing() {
				continue
			}
		case <-later:
			later = nil
		case <-w.audit.stop:
			w.step()
			w.shut()
			w.audit.lose()
			return
		}
		failed = w.step()
		switch {
		case failed:
			later = time.After(retryEvery)
		case w.dirty && later == nil:
			w.sync()
			later = time.After(syncEvery)
		}
	}
}

// step takes a change up and writes what waits. It answers whether writing has failed.
func (w *writer) step() (failed bool) {
	old, change, lines, dropped := w.audit.take()
	if change != nil {
		if w.file != nil {
			old, dropped, _ = w.write(old, dropped) // what it does not take is for the next one, with its own error
		}
		w.shut()
		w.opts, w.file, w.torn = change.opts, change.file, false
	}
	rest, dropped, err := w.write(append(old, lines...), dropped)
	if err != nil {
		w.audit.giveBack(rest, dropped, err)
		return true
	}
	w.audit.works()
	return false
}

// write writes lines, after one that tells of those that were dropped before them. It answers what is left.
func (w *writer) write(lines [][]byte, dropped int) ([][]byte, int, error) {
	if w.file == nil { // nobody wants them any more
		return nil, 0, nil
	}
	if dropped > 0 {
		line, err := json.Marshal(gap{time.Now().UTC(), "lines are missing", dropped, "they came faster than they could be written"})
		if err != nil {
			return lines, dropped, err
		}
		if err := w.append(append(line, '\n')); err != nil {
			return lines, dropped, err
		}
	}
	most := int64(mostAtOnce)
	if w.opts.MaxSize > 0 {
		most = min(most, w.opts.MaxSize)
	}
	for len(lines) > 0 {
		n, size := 0, 0
		for n < len(lines) && (n == 0 || int64(size+len(lines[n])) <= most) {
			size += len(lines[n])
			n++
		}
		batch := make([]byte, 0, size)
		for _, line := range lines[:n] {
			batch = append(batch, line...)
		}
		if err := w.append(batch); err != nil {
			return lines, 0, err
		}
		lines = lines[n:]
	}
	return nil, 0, nil
}

// append writes whole lines in one go. Of a write that stops in the middle nothing stays.
func (w *writer) append(batch []byte) error {
	if err := w.reopen(); err != nil {
		return err
	}
	size, err := w.file.Size()
	if err != nil {
		return err
	}
	if w.opts.MaxSize > 0 && size > 0 && size+int64(len(batch)) > w.opts.MaxSize && !time.Now().Before(w.patient) {
		if err := w.rotate(); err != nil {
			return err
		}
		if size, err = w.file.Size(); err != nil {
			return err
		}
	}
	if w.torn {
		batch = append([]byte{'\n'}, batch...)
	}
	n, err := w.file.Write(batch)
	if err == nil {
		w.dirty, w.torn = true, false
		return nil
	}
	if n > 0 && w.file.Truncate(size) != nil {
		w.torn = true
	}
	return err
}

// rotate renames the file and begins a new one. The old ones move up by one, and the oldest goes. A file that cannot be renamed
// grows on for a minute before that is tried again: its lines matter more than its size.
func (w *writer) rotate() error {
	w.sync()
	if err := w.file.Close(); err != nil { // before it is renamed, which some systems want
		w.audit.say(fmt.Sprintf("closing the audit log that was full: %v", err))
	}
	w.shutIn = true
	if err := w.shift(); err != nil {
		w.audit.say(fmt.Sprintf("the audit log is full and cannot be renamed, so it grows on: %v", err))
		w.patient = time.Now().Add(rotateAgain)
	}
	return w.reopen()
}

const rotateAgain = time.Minute

// shift renames the files.
func (w *writer) shift() error {
	numbered := func(n int) string { return w.opts.File + "." + strconv.Itoa(n) }
	for n := w.opts.Keep - 1; n >= 1; n-- {
		if err := os.Rename(numbered(n), numbered(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(w.opts.File, numbered(1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// reopen opens the file that was shut in the middle of a change of files, if it was.
func (w *writer) reopen() error {
	if !w.shutIn {
		return nil
	}
	next, err := w.opts.open(w.opts.File)
	if err != nil {
		return err
	}
	w.file, w.shutIn, w.torn = next, false, false
	return nil
}

// sync hands what was written to the disk.
func (w *writer) sync() {
	if w.file == nil || !w.dirty {
		return
	}
	w.dirty = false
	if err := w.file.Sync(); err != nil {
		w.audit.say(fmt.Sprintf("the audit log may be lost when the machine goes down: %v", err))
	}
}

// shut closes the file.
func (w *writer) shut() {
	if w.file == nil {
		return
	}
	w.sync()
	if !w.shutIn {
		if err := w.file.Close(); err != nil {
			w.audit.say(fmt.Sprintf("closing the audit log: %v", err))
		}
	}
	w.file, w.shutIn = nil, false
}

// gap is the line that says how many others are missing before it.
type gap struct {
	Time    time.Time `json:"time"`
	Outcome string    `json:"outcome"`
	Dropped int       `json:"dropped"`
	Reason  string    `json:"reason,omitempty"`
}

// missing puts a line that says how many others there are not.
func (a *Audit) missing(n int, why string) {
	if line, err := json.Marshal(gap{time.Now().UTC(), "lines are missing", n, why}); err == nil && a.On() { // it is plain
		a.add(line, nowhere)
	}
}
