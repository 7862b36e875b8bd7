package seal_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// digest is that of a tool call with the arguments given.
func digest(t testing.TB, arguments string) seal.Digest {
	t.Helper()
	return digestOf(t, "tools/call", `{"name":"book","arguments":`+arguments+`}`)
}

func digestOf(t testing.TB, method, params string) seal.Digest {
	t.Helper()
	d, err := seal.DigestCall(method, []byte(params))
	if err != nil {
		t.Fatalf("digest of %.100s: %v", params, err)
	}
	return d
}

func TestDigestAgrees(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name string
		in   []string
	}{
		{"one", []string{`[1]`, `[1.0]`, `[1e0]`, `[10e-1]`, `[0.1E+1]`, `[1.000e00]`, `[ 1 ]`, `[0.01e2]`, `[100e-000000000000000000000002]`}},
		{"zero", []string{`[0]`, `[-0]`, `[0.0]`, `[-0.00e5]`, `[0e99999999999999999999999]`}},
		{"negative", []string{`[-1500]`, `[-1.5e3]`, `[-15E2]`, `[-0.0015e+6]`}},
		{"huge", []string{`[1e400]`, `[10e399]`, `[0.001e403]`, `[1` + strings.Repeat("0", 400) + `]`}},
		{"tiny", []string{`[1e-400]`, `[0.1e-399]`, `[0.` + strings.Repeat("0", 399) + `1]`}},
		{"exponent at the bound", []string{`[1e999999999999999999]`, `[10e999999999999999998]`}},
		{"order", []string{`{"a":1,"b":2,"c":3}`, `{"c":3,"b":2,"a":1}`, ` { "b" : 2 , "c":3,"a" :1 } `}},
		{"names", []string{`{"é":1,"f":2}`, `{"f":2,"\u00e9":1}`, `{"\u0066":2,"\u00E9":1}`}},
		{"strings", []string{`["a/b\n\"\\é😀"]`, `["\u0061\/b\u000a\u0022\u005c\u00e9\ud83d\ude00"]`, `["a/b\n\"\\\u00E9\uD83D\uDE00"]`}},
		{"delete and line separator", []string{"[\"\x7f\u2028\"]", `["\u007F\u2028"]`}},
		{"deep order", []string{`{"x":{"q":"` + long + `","p":[{"n":1,"m":2}]}}`, `{"x":{"p":[{"m":2.0,"n":1}],"q":"` + long + `"}}`}},
		{"empty", []string{`{}`, ` { } `}},
	} {
		for _, other := range c.in[1:] {
			if digest(t, c.in[0]) != digest(t, other) {
				t.Errorf("%s: %.60s and %.60s have different digests", c.name, c.in[0], other)
			}
		}
	}
}

func TestDigestDiffers(t *testing.T) {
	long := strings.Repeat("x", 300)
	values := []string{
		`9007199254740992`, `9007199254740993`, `9007199254740992.1`, `1e400`, `1e401`, `-1e400`, `1e-400`, `0`, `1`, `-1`, `10`, `100`, `0.1`, `0.01`,
		`"1"`, `"0"`, `""`, `"a"`, `"A"`, `"é"`, `"e\u0301"`, `"\u0000"`, `"\n"`, `"\\n"`, `true`, `false`, `null`, `"true"`, `"null"`,
		`[]`, `{}`, `[[]]`, `[{}]`, `[1]`, `[1,2]`, `[2,1]`, `[12]`, `[[1],2]`, `[1,[2]]`, `[[1,2]]`, `["1,2"]`, `[null]`, `[1,null]`,
		`{"a":1}`, `{"a":"1"}`, `{"a":null}`, `{"A":1}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":{"b":2}}`, `{"a":1,"b":{}}`, `{"a":1,"b":[]}`, `{"":1}`,
		`["` + long + `"]`, `["` + long + `x"]`, `[["` + long + `"]]`, `{"` + long + `":1}`, `{"` + long + `":2}`, `"#` + long + `"`, `"#"`,
	}
	seen := map[seal.Digest]string{}
	for _, v := range values {
		d := digest(t, v)
		if old, ok := seen[d]; ok {
			t.Errorf("%.60s and %.60s have one digest", old, v)
		}
		seen[d] = v
	}
}

func TestDigestOfCalls(t *testing.T) {
	base := digestOf(t, "tools/call", `{"name":"book","arguments":{}}`)
	for _, same := range []string{
		`{"name":"book"}`, `{"arguments":{ },"name":"\u0062ook"}`, `{"\u006eame":"book","_meta":{"progressToken":7},"inputResponses":{},"requestState":"x"}`,
	} {
		if digestOf(t, "tools/call", same) != base {
			t.Errorf("%s has another digest", same)
		}
	}
	for _, c := range []struct{ method, params string }{
		{"prompts/get", `{"name":"book","arguments":{}}`},
		{"tools/callx", `{"name":"book"}`},
		{"tools/call", `{"name":"cook"}`},
		{"tools/call", `{"uri":"book"}`},
		{"tools/call", `{"name":"book","uri":"book"}`},
		{"tools/call", `{"name":"book","arguments":null}`},
		{"tools/call", `{"name":"book","arguments":{"a":1}}`},
		{"tools/call", `{}`},
		{"tools/call", ``},
	} {
		if digestOf(t, c.method, c.params) == base {
			t.Errorf("%s %s has the digest of another call", c.method, c.params)
		}
	}
	if digestOf(t, "m", `{"name":"x"}`) == digestOf(t, `mn"x"`, `{}`) {
		t.Error("a method can be written so that it reads as another with a name")
	}
	if digestOf(t, "resources/read", "") != digestOf(t, "resources/read", `{}`) {
		t.Error("no params and {} differ")
	}
}

func TestDigestRefuses(t *testing.T) {
	deep := strings.Repeat("[", jsonrpc.MaxDepth+1) + strings.Repeat("]", jsonrpc.MaxDepth+1)
	if d := digest(t, deep[1:len(deep)-1]); d == digest(t, deep[2:len(deep)-2]) {
		t.Error("the deepest value that is allowed has the digest of a shallower one")
	}
	for _, c := range []struct{ in, text string }{
		{deep, "deeper"}, {`1e1000000000000000000`, "exponent"}, {`1e-99999999999999999999`, "exponent"},
		{`{"b":1,"a":2,"a":3}`, "twice"}, {`{"a":2,"a":3}`, "twice"}, {`{"a":1,"\u0061":1}`, "twice"},
		{`[1 2]`, "comma"}, {`{"a":1 "b":2}`, "comma"}, {`{"a" 1}`, "colon"}, {`{a:1}`, "name"}, {`"\ud800"`, "string"}, {`"\x"`, "string"},
		{`[1.]`, "number"}, {`[01]`, "number"}, {`[-]`, "number"}, {`[1e]`, "number"}, {`[nul]`, "value"}, {`nullx`, "more than one"}, {`[`, "value"}, {`["a`, "end"},
	} {
		_, err := seal.DigestCall("tools/call", []byte(`{"arguments":`+c.in+`}`))
		var syntax *seal.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%.40s: error %v, want one about %q", c.in, err, c.text)
		}
	}
}

// TestDigestProperty writes random values in two random ways, which must agree, and changes one place, which must not.
func TestDigestProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		v := randomValue(rng, 4)
		one, two := string(write(rng, nil, v)), string(write(rng, nil, v))
		if digest(t, one) != digest(t, two) {
			t.Fatalf("different digests of\n%s\n%s", one, two)
		}
		other := string(write(rng, nil, change(rng, v)))
		if digest(t, one) == digest(t, other) {
			t.Fatalf("one digest of\n%s\n%s", one, other)
		}
	}
}

func FuzzDigest(f *testing.F) {
	for _, seed := range []string{
		`{"a":1.0,"b":[1e0,-0,1e400],"c":{"\u0061":"\/"}}`, `[9007199254740993,12.50e-3]`, `{"z":null,"y":true,"x":"😀"}`,
		`[[[[[["a long enough text to be hashed on its own, and then some more of it"]]]]]]`, `0e5`, `{"a":1,"a":2}`,
	} {
		f.Add(seed, `[1]`, uint64(7))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64) {
		va, okA := parse(a)
		vb, okB := parse(b)
		if !okA {
			_, _ = seal.DigestCall("tools/call", []byte(`{"arguments":`+a+`}`)) // must not crash
			return
		}
		rng := rand.New(rand.NewPCG(seed, seed))
		again := string(write(rng, nil, va))
		if digest(t, a) != digest(t, again) {
			t.Fatalf("different digests of\n%s\n%s", a, again)
		}
		if okB && (digest(t, a) == digest(t, b)) != (slow(va) == slow(vb)) {
			t.Fatalf("the digests of\n%s\n%s do not say whether they are equal", a, b)
		}
	})
}

func TestSlowReference(t *testing.T) {
	for in, want := range map[string]string{`[1.50,-0,1e3]`: `[3/2,0,1000]`, `{"b":"\u0061","a":null}`: `{"a":null,"b":"a"}`} {
		v, ok := parse(in)
		if got := slow(v); !ok || got != want {
			t.Errorf("the reference reads %s as %s, want %s", in, got, want)
		}
	}
	if _, ok := new(big.Rat).SetString("1e400"); !ok {
		t.Error("math/big does not read 1e400")
	}
}
