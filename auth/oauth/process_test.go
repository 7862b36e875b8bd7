package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	childServer = "RIALTO_TEST_CHILD_SERVER"
	childStore  = "RIALTO_TEST_CHILD_STORE"
)

// TestMain makes the test binary a client of its own when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(childServer) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child is a program that calls a server until its input ends: one line in, one answer out.
func child() int {
	store, err := OpenFiles(os.Getenv(childStore))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	visit := func(ctx context.Context, page string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return "", err
		}
		resp.Body.Close()
		back, err := resp.Location()
		if err != nil {
			return "", err
		}
		return back.String(), nil
	}
	server := os.Getenv(childServer)
	a, err := New(server, Options{Store: store, Flow: Redirect{URL: "http://127.0.0.1:1717/back", Visit: visit}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer a.Close()
	var all sync.WaitGroup
	failed := make(chan error, 4)
	for range 4 {
		all.Go(func() {
			req, err := http.NewRequest(http.MethodPost, server, strings.NewReader("question"))
			if err != nil {
				failed <- err
				return
			}
			resp, err := a.RoundTrip(req)
			if err == nil && resp.StatusCode != 200 {
				err = errors.New(resp.Status)
			}
			if err != nil {
				failed <- err
				return
			}
			resp.Body.Close()
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestC091Processes holds that several processes with one folder of tokens log in once and refresh once, though refresh
// tokens are good once.
func TestC091Processes(t *testing.T) {
	as := newAuthServer("")
	asServer := httptest.NewUnstartedServer(as)
	as.issuer, as.rotate = "http://"+asServer.Listener.Addr().String(), true
	rs := newResourceServer(as)
	rsServer := httptest.NewUnstartedServer(rs)
	address := "http://" + rsServer.Listener.Addr().String() + "/mcp"
	rs.challenge = "-"
	rs.documents = map[string]any{usualMetadata: map[string]any{"resource": address, "authorization_servers": []string{as.issuer}}}
	for _, srv := range []*httptest.Server{asServer, rsServer} {
		srv.Start()
		t.Cleanup(srv.Close)
	}
	dir := filepath.Join(t.TempDir(), "tokens")

	run := func() {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, os.Args[0])
				cmd.Env = append(os.Environ(), childServer+"="+address, childStore+"="+dir)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Run(); err != nil {
					t.Errorf("a process failed: %v\n%s", err, &out)
				}
			})
		}
		all.Wait()
	}
	run()
	equal(t, "logins", len(as.pages), 1)
	as.revoke()
	run()
	equal(t, "refreshes", as.count(grantRefresh), 1)
	equal(t, "logins", len(as.pages), 1)
	equal(t, "registrations", len(as.clients), 1)
}
