package jsonrpc_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// tokens returns the tokens of a JSON text with the bytes they have there.
func tokens(t testing.TB, text []byte) []string {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	var out []string
	for {
		kind := dec.PeekKind()
		if kind == '{' || kind == '[' || kind == '}' || kind == ']' {
			if _, err := dec.ReadToken(); err != nil {
				t.Fatalf("%v in %q", err, text)
			}
			out = append(out, string(byte(kind)))
			continue
		}
		raw, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		out = append(out, string(raw))
	}
}

// sameTokens checks that got is one line and has the tokens of want.
func sameTokens(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.ContainsAny(got, "\r\n") {
		t.Errorf("%s: a line break in %q", what, got)
	}
	if g, w := tokens(t, got), tokens(t, want); !slices.Equal(g, w) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, g, w)
	}
}

// writer makes random JSON: odd numbers, escapes of every kind, white space wherever it may stand.
type writer struct {
	*rand.Rand
	out []byte
}

func (w *writer) pick(of ...string) { w.out = append(w.out, of[w.IntN(len(of))]...) }

func (w *writer) space() {
	if w.IntN(4) == 0 {
		w.pick(" ", "\n", "\r\n", "\t", "  \n ")
	}
}

func (w *writer) number() {
	w.pick("0", "-0", "1.0", "1e0", "1E+2", "-1.50", "9007199254740993", "-9223372036854775809", "1e400", "0.1e-999",
		"123456789012345678901234567890.10")
}

func (w *writer) text() {
	w.out = append(w.out, '"')
	for range w.IntN(4) {
		w.pick("a", "é", "😀", `\u00e9`, `\u00E9`, `\ud83d\ude00`, `\n`, `\/`, `/`, `\"`, `\\`, "{", "]", ",", ":", "\u2028", "\x7f", `\u0000`, "<")
	}
	w.out = append(w.out, '"')
}

func (w *writer) value(depth int) {
	w.space()
	kinds := 6
	if depth <= 0 {
		kinds = 3
	}
	switch w.IntN(kinds) {
	case 0:
		w.number()
	case 1:
		w.text()
	case 2:
		w.pick("true", "false", "null")
	case 3:
		w.list(depth - 1)
	default:
		w.object(depth - 1)
	}
	w.space()
}

func (w *writer) list(depth int) {
	w.out = append(w.out, '[')
	for i := range w.IntN(4) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.value(depth)
	}
	w.space()
	w.out = append(w.out, ']')
}

// object writes members under names that cannot meet, among them some that are lifted.
func (w *writer) object(depth int) {
	w.out = append(w.out, '{')
	names := []string{`"a"`, `"name"`, `"_meta"`, `"\u0063laim"`, `"arguments"`, `""`, `"x,}"`, `"info"`, `"Name"`}
	w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names[:w.IntN(len(names))] {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.space()
		w.out = append(w.out, name...)
		w.space()
		w.out = append(w.out, ':')
		w.value(depth)
	}
	w.space()
	w.out = append(w.out, '}')
}

func randomObject(seed uint64) []byte {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
	w.object(5)
	return w.out
}

func TestRelayKeepsEveryToken(t *testing.T) {
	for seed := range uint64(500) {
		params := randomObject(seed)
		frame := slices.Concat([]byte("{\"jsonrpc\":\"2.0\" , \"id\":"), strconv.AppendUint(nil, seed, 10),
			[]byte(",\"method\":\"x\",\"params\":"), params, []byte(",\n\"more\" : "), params, []byte("}\n"))
		m, err := jsonrpc.Decode(frame, lift)
		if err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, frame)
		}
		sameTokens(t, "request", m.Append(nil), frame)

		answer := jsonrpc.Message{ID: m.ID, Result: m.Params}
		back, err := jsonrpc.Decode(answer.Append(nil), lift)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		sameTokens(t, "result", jsonrpc.AppendRaw(nil, back.Result), params)
		fault := jsonrpc.Message{Error: &jsonrpc.Error{Code: 1, Data: m.Params}}
		if back, err = jsonrpc.Decode(fault.Append(nil), lift); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		sameTokens(t, "error data", jsonrpc.AppendRaw(nil, back.Error.Data), params)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// rebuilt writes the members of obj that keep lets pass, in their order, followed by more.
func rebuilt(obj []byte, keep func(name string) bool, more string) []byte {
	var pairs []string
	for name, raw := range jsonrpc.Members(obj) {
		if keep(name) {
			pairs = append(pairs, string(jsonrpc.AppendString(nil, name))+":"+string(raw))
		}
	}
	if more != "" {
		pairs = append(pairs, more)
	}
	return []byte("{" + strings.Join(pairs, ",") + "}")
}

// plain undoes the escapes that names may have, since rebuilt writes them anew.
func plain(obj []byte) []byte {
	return bytes.ReplaceAll(obj, []byte(`"\u0063laim"`), []byte(`"claim"`))
}

func checkEdits(t testing.TB, obj []byte) {
	t.Helper()
	not := func(names ...string) func(string) bool {
		return func(name string) bool { return !slices.Contains(names, name) }
	}
	line := jsonrpc.AppendRaw(nil, plain(obj))
	sameTokens(t, "Without", jsonrpc.Without(line, "name", "claim"), rebuilt(line, not("name", "claim"), ""))
	sameTokens(t, "AddMembers", jsonrpc.AddMembers(nil, line, []byte(`"new":[1]`)), rebuilt(line, not(), `"new":[1]`))
	with := jsonrpc.With(nil, line, "name", []byte(`7`))
	if raw, ok := jsonrpc.Member(with, "name"); !ok || string(raw) != "7" {
		t.Errorf("With: name is %s", raw)
	}
	sameTokens(t, "With", jsonrpc.Without(with, "name"), rebuilt(line, not("name"), ""))

	m, err := jsonrpc.Decode([]byte(request(string(line))), lift)
	if err != nil {
		t.Fatal(err)
	}
	lean := m.LeanParams([]int{liftName}, []int{metaClaim, metaInfo})
	sameTokens(t, "LeanParams", jsonrpc.Without(lean, "_meta"), rebuilt(line, not("name", "_meta"), ""))
	if meta, ok := m.Meta(); ok {
		want := rebuilt(meta, not("claim", "info"), "")
		got, there := jsonrpc.Member(lean, "_meta")
		switch {
		case !there && string(want) != "{}":
			t.Errorf("_meta is gone, want %s", want)
		case there:
			sameTokens(t, "_meta", got, want)
		}
	}
}

func TestEditsKeepAllOtherTokens(t *testing.T) {
	for seed := range uint64(500) {
		checkEdits(t, randomObject(seed))
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, randomObject(seed))
		}
	}
}
