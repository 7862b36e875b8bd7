package stdio

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// waitPipe returns both ends of a pipe, of which one waits on the thread that reads.
func waitPipe(t *testing.T) (*waitFile, *os.File) {
	t.Helper()
	r, w := osPipe(t)
	own, ok := waitOn(r).(*waitFile)
	if !ok {
		t.Skip("pipes cannot be opened a second time here, or there is one processor only")
	}
	t.Cleanup(func() { own.Close() })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return own, w
}

func TestWaitFileContract(t *testing.T) {
	conntest.Run(t, func(t *testing.T) (near, far transport.Conn) {
		nearIn, farOut := waitPipe(t)
		farIn, nearOut := waitPipe(t)
		return Open(nearIn, nearOut, short), Open(farIn, farOut, short)
	})
}

// A deadline ends a wait under way, keeps later ones from beginning, and takes no byte of the input.
func TestWaitFileDeadline(t *testing.T) {
	f, w := waitPipe(t)
	read := make(chan error)
	go func() {
		n, err := f.Read(make([]byte, 8))
		if n > 0 {
			err = errors.New("there was nothing to read")
		}
		read <- err
	}()
	time.AfterFunc(10*time.Millisecond, func() { f.SetReadDeadline(longAgo) })
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the wait ended with %v", err)
	}
	io.WriteString(w, "x")
	if n, err := f.Read(make([]byte, 8)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("behind the deadline: %d bytes, %v", n, err)
	}
	for range 2 { // the second time says nothing new
		if err := f.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 8)
	if n, err := f.Read(buf); err != nil || string(buf[:n]) != "x" {
		t.Errorf("after it: %q, %v", buf[:n], err)
	}
	w.Close()
	if _, err := f.Read(buf); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// Close waits for the reader, for its descriptors may be another file's a moment later.
func TestWaitFileClose(t *testing.T) {
	f, _ := waitPipe(t)
	read := make(chan error, 1)
	go func() {
		_, err := f.Read(make([]byte, 8))
		read <- err
	}()
	time.Sleep(10 * time.Millisecond) // most likely it waits now; both ways must do
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-read:
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
			t.Errorf("the wait ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the reader still waits")
	}
	_, reading := f.Read(make([]byte, 8))
	for name, err := range map[string]error{"read": reading, "deadline": f.SetReadDeadline(longAgo), "close": f.Close()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

// What cannot be waited for is left to the other ways of reading.
func TestWaitFileTakesPipesAndTerminals(t *testing.T) {
	plain, err := os.CreateTemp(t.TempDir(), "plain")
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []*os.File{plain, null} {
		if own := waitOn(file); own != nil {
			t.Errorf("%s: waits on the thread", file.Name())
		}
		file.Close()
	}
}

// The description that the process was given stays as it was.
func TestWaitFileLeavesTheSharedDescription(t *testing.T) {
	r, w := osPipe(t)
	shared := duplicateBlocking(t, r)
	own, ok := waitOn(shared).(*waitFile)
	if !ok {
		t.Skip("not available here")
	}
	defer own.Close()
	if fd, _ := fdOf(shared); nonblocking(t, fd) {
		t.Error("the shared description was made non-blocking")
	}
	io.WriteString(w, "x")
	if n, err := own.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}
