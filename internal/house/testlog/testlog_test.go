package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const events = `{"Action":"build-output","ImportPath":"p/broken","Output":"broken.go:3: no such thing\n"}
stray line
{"Action":"output","Package":"p/good","Test":"TestQuiet","Output":"nobody needs this\n"}
{"Action":"pass","Package":"p/good","Test":"TestQuiet"}
{"Action":"pass","Package":"p/good","Elapsed":1.25}
{"Action":"output","Package":"p/bad","Test":"TestLoud","Output":"bad_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"p/bad","Test":"TestLoud"}
{"Action":"fail","Package":"p/bad","Elapsed":0.5}
{"Action":"output","Package":"p/good","Test":"TestPeer","Output":"peer_test.go:9: npx is not installed\n"}
{"Action":"skip","Package":"p/good","Test":"TestPeer"}
{"Action":"output","Package":"p/empty","Output":"?   p/empty [no test files]\n"}
{"Action":"skip","Package":"p/empty"}`

func TestRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "run.json")
	var out bytes.Buffer
	if code := run([]string{"-o", log}, strings.NewReader(events), &out, &out); code != 0 {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	want := "broken.go:3: no such thing\nstray line\nok   p/good 1.2s\nbad_test.go:7: got 1, want 2\nFAIL p/bad 0.5s\n" +
		"peer_test.go:9: npx is not installed\nnone p/empty 0.0s\n"
	if got := out.String(); got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	kept, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(events, "stray line\n", ""); string(kept) != want {
		t.Errorf("kept:\n%s\nwant:\n%s", kept, want)
	}
}

func TestRunRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
	}{
		"no file":    {nil, 2},
		"bad flag":   {[]string{"-x"}, 2},
		"bad folder": {[]string{"-o", filepath.Join(t.TempDir(), "gone", "run.json")}, 1},
	} {
		var out bytes.Buffer
		if code := run(tc.args, strings.NewReader(events), &out, &out); code != tc.code || out.Len() == 0 {
			t.Errorf("%s: exit code %d with %q, want %d and a reason", name, code, out.String(), tc.code)
		}
	}
}
