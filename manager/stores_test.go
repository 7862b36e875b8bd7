package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// vault is a store of a few values. It notes what it is asked for.
type vault struct {
	mu    sync.Mutex
	holds map[string]string
	asked map[string]int
}

func (v *vault) get(_ context.Context, ref string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked == nil {
		v.asked = make(map[string]int)
	}
	v.asked[ref]++
	if value, ok := v.holds[ref]; ok {
		return value, nil
	}
	return "", errors.New("it holds nothing of that name;\x1b\n add it")
}

func TestReferencesToStores(t *testing.T) {
	v := &vault{holds: map[string]string{"dev/db#pw": "hush", "a": "1", "ref": "${A}", "-x": "no", "big": strings.Repeat("x", maxExpanded+1)}}
	env := map[string]string{"A": "a", "STAGE": "dev", "DASH": "-x", "LINE": "a\nb", "vault": "variable"}
	const range1 = "what ${vault:...} refers to must be 1 to 1024 bytes without control characters, and must not begin with '-'"
	for _, tc := range []struct{ in, want, fault string }{
		{"${vault:dev/db#pw}", "hush", ""},
		{"Bearer ${vault:a}!", "Bearer 1!", ""},
		{"${vault:${STAGE}/db#pw}", "hush", ""},        // variables in a reference
		{"${NONE:-${vault:a}}", "1", ""},               // a reference as a default
		{"${vault:ref}", "${A}", ""},                   // a value is put in as it is
		{"${vault:-x}", "variable", ""},                // a variable with a default
		{"$${vault:a}", "${vault:a}", ""},              // characters
		{"${shown:a b}c", "${shown:a b}c", ""},         // of a store that is not asked
		{"${shown:${A}}", "${shown:${A}}", ""},         // likewise, variables in it included
		{"${env:A}${vault}", "avariable", ""},          // words that are no schemes here
		{"${NONE:-${vault:${A}}}${vault:a}", "11", ""}, // several

		{"${vault:none}", "", "${vault:none} has no value: it holds nothing of that name; add it"},
		{"${vault:${NONE:-secret}}", "", "${vault:...} has no value: it holds nothing of that name; add it"},
		{"${vault:${NONE}}", "", "the variable NONE is not set; set it, or write ${NONE:-default}"},
		{"${vault:a:-secret}", "", "${vault:...} is a reference to a store, which has no default; remove what stands behind :-"},
		{"${vault:${vault:a}}", "", "a reference to a store stands in another; a reference may hold variables only"},
		{"${vault:${DASH}}", "", range1}, {"${vault:${LINE}}", "", range1},
		{"${vault:a\nb}", "", range1}, {"${vault:" + strings.Repeat("x", 1025) + "}", "", range1},
		{"${vault:}", "", strings.Replace(range1, "...", "", 1)},
		{"${voult:secret}", "", "this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}, ${shown:...}, ${vault:...}; for the characters themselves write $${"},
		{"${vault:big}", "", "the text is longer than 131072 bytes once its variables are put in; shorten them"},
		{strings.Repeat("${vault:", 20) + strings.Repeat("}", 20), "", "a reference to a store stands in another; a reference may hold variables only"},
		{strings.Repeat("${N:-", 8) + "${vault:a}" + strings.Repeat("}", 8), "", "defaults stand in each other more than 8 deep; flatten them"},
	} {
		f := &File{}
		x := f.expander(ReadOptions{Lookup: lookupIn(env), Secrets: map[string]SecretFunc{"vault": v.get, "shown": nil}})
		if got, fault := x.expand(tc.in); got != tc.want || fault != tc.fault {
			t.Errorf("%.80s: got %q, %q; want %q, %q", tc.in, got, fault, tc.want, tc.fault)
		}
	}
}

// TestStoresAreAskedOnce holds that what several entries and sections refer to is asked for once, and nothing else at all.
func TestStoresAreAskedOnce(t *testing.T) {
	v := &vault{holds: map[string]string{"key": "hush", "mine": "own"}}
	const text = `{"mine": {"key": "${vault:mine}", "again": "${vault:key}"}, "mcpServers": {
		"a": {"command": "a", "env": {"K": "${vault:key}", "L": "${SET:-${vault:unused}}"}},
		"b": {"url": "https://b.example", "headers": {"Authorization": "Bearer ${vault:key}"}},
		"c": {"command": "c", "args": ["${vault:gone}"]},
		"off": {"command": "d", "args": ["${vault:unused}"], "disabled": true}}}`
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"SET": "x"}), Secrets: map[string]SecretFunc{"vault": v.get}, Sections: []string{"mine"}}
	f, err := Read(strings.NewReader(text), "f", opts)
	if want := `f:4:34: mcpServers.c.args[0]: server "c": ${vault:gone} has no value: it holds nothing of that name; add it`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if all, ok := errors.AsType[*ConfigErrors](err); !ok || all.List[0].Store != "vault" {
		t.Errorf("the error does not tell that it is the store's: %#v", err)
	}
	if names := slices.Collect(func(yield func(string) bool) {
		for _, s := range f.Servers {
			yield(s.Name)
		}
	}); fmt.Sprint(names, f.Names) != "[a b off] [a b c off]" {
		t.Errorf("got %v of %v", names, f.Names)
	}
	if a, _ := f.Server("a"); a.Env["K"] != "hush" || strings.Contains(string(a.Raw), "hush") {
		t.Errorf("got %q, %s", a.Env, a.Raw)
	}
	if b, _ := f.Server("b"); b.Headers["Authorization"] != "Bearer hush" {
		t.Errorf("got %q", b.Headers)
	}
	f.Prepare([]string{"${vault:mine}", "${vault:key}", "${NONE}"}, opts)
	for text, want := range map[string]string{"${vault:mine}": "own", "${vault:key}": "hush"} {
		if got, err := f.Expand(text, opts); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	if fmt.Sprint(v.asked) != "map[gone:1 key:1 mine:1]" {
		t.Errorf("asked for %v", v.asked)
	}
	if _, err := Read(strings.NewReader(text), "f", opts); err == nil || v.asked["key"] != 2 {
		t.Errorf("another reading asks anew: %v, %v", v.asked, err)
	}
	opts.Only = []string{"c"}
	if _, err := Read(strings.NewReader(text), "f", opts); err == nil || v.asked["key"] != 2 || v.asked["gone"] != 3 {
		t.Errorf("one entry alone: %v, %v", v.asked, err)
	}
}

// TestStoresSideBySide holds that eight questions are asked at a time, and how long all of them may take.
func TestStoresSideBySide(t *testing.T) {
	var args []string
	for i := range 20 {
		args = append(args, fmt.Sprintf(`"${slow:%d}"`, i))
	}
	text := `{"a": {"command": "a", "args": [` + strings.Join(args, ",") + `]}}`
	for name, tc := range map[string]struct {
		each, total time.Duration
		err         string
	}{
		"in time":  {time.Second, 3 * time.Second, ""},
		"too slow": {time.Minute + time.Second, 2 * time.Minute, "there was no time left to ask for it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			slow := func(ctx context.Context, ref string) (string, error) {
				select {
				case <-time.After(tc.each):
					return ref, nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
			_, err := Read(strings.NewReader(text), "f", ReadOptions{Lookup: lookupIn(nil), Secrets: map[string]SecretFunc{"slow": slow}})
			if took := time.Since(begun); took != tc.total || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: after %s: %v", name, took, err)
			}
		})
	}
}

func TestStoresEndWithTheirReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hung := func(ctx context.Context, _ string) (string, error) {
		cancel()
		<-ctx.Done()
		return "", errors.New("it was interrupted")
	}
	_, err := Read(strings.NewReader(`{"a": {"command": "${hung:x}"}}`), "f", ReadOptions{Lookup: lookupIn(nil), Context: ctx, Secrets: map[string]SecretFunc{"hung": hung}})
	if err == nil || !strings.Contains(err.Error(), "it was interrupted") {
		t.Errorf("got %v", err)
	}
}

func TestManyReferences(t *testing.T) {
	var args []string
	for i := range maxReferences + 5 {
		args = append(args, fmt.Sprintf(`"${vault:%d}"`, i))
	}
	v := &vault{}
	_, err := Read(strings.NewReader(`{"a": {"command": "a", "args": [`+strings.Join(args, ",")+`]}}`), "f", ReadOptions{Lookup: lookupIn(nil), Secrets: map[string]SecretFunc{"vault": v.get}})
	if all, ok := errors.AsType[*ConfigErrors](err); !ok || all.More != maxReferences+5-maxErrors || len(v.asked) != maxReferences {
		t.Errorf("asked for %d; %v", len(v.asked), err)
	}
}

// TestReasonHidesWhatStoresGave, also where values of variables are shown.
func TestReasonHidesWhatStoresGave(t *testing.T) {
	v := &vault{holds: map[string]string{"dir": "/srv/topsecret", "key": "line-one\nline-two"}}
	s, err := readEntry(t, `{"command": "x", "cwd": "${vault:dir}", "args": ["${vault:key}"]}`, ReadOptions{Lookup: lookupIn(nil), Secrets: map[string]SecretFunc{"vault": v.get}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Reason(s, errors.New("chdir /srv/topsecret: no such file; read line-two")); strings.Contains(got, "topsecret") || strings.Contains(got, "line-two") {
		t.Errorf("got %s", got)
	}
}

// TestReferencesAsWritten is for programs that show a file and ask no store.
func TestReferencesAsWritten(t *testing.T) {
	opts := ReadOptions{Lookup: lookupIn(nil), Secrets: map[string]SecretFunc{"vault": nil}}
	s, err := readEntry(t, `{"url": "${vault:a#url}", "headers": {"A": "Bearer ${vault:a#b}"}, "oauth": {"clientId": "${vault:c}", "clientSecret": "${vault:d}", "issuer": "${vault:e}"}}`, opts)
	if err != nil || s.URL != "${vault:a#url}" || s.Headers["A"] != "Bearer ${vault:a#b}" || s.OAuth.ClientSecret != "${vault:d}" {
		t.Errorf("got %q, %q, %v", s.URL, s.Headers, err)
	}
}

// FuzzReference puts stores into any text: nothing that a store gave is in an error, and what was put in is what it gave.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{"${vault:a#b}", "x${vault:${A}/b}y", "${N:-${vault:a}}", "${vault:${vault:a}}", "$${vault:a}", "${vault:-a}", "${vault:a:-b}", "${vault:", "${${vault:a}}", "${shown:a}${env:A}"} {
		f.Add(seed)
	}
	const value = "\x01hush\x02"
	f.Fuzz(func(t *testing.T, text string) {
		var mu sync.Mutex
		asked := map[string]bool{}
		get := func(_ context.Context, ref string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if asked[ref] || ref == "" || ref[0] == '-' || len(ref) > longestReference {
				t.Errorf("asked for %q, after %q", ref, slices.Collect(maps.Keys(asked)))
			}
			asked[ref] = true
			return value, nil
		}
		opts := ReadOptions{Lookup: func(name string) (string, bool) { return name, name == "A" }, Secrets: map[string]SecretFunc{"vault": get, "shown": nil}}
		file := &File{stores: newStores()}
		file.Prepare([]string{text}, opts)
		out, err := file.Expand(text, opts)
		switch {
		case err != nil && (out != "" || strings.Contains(err.Error(), value)):
			t.Errorf("got %q, %v", out, err)
		case err == nil && strings.Contains(out, value) && len(asked) == 0:
			t.Errorf("nobody was asked for %q", out)
		}
	})
}
