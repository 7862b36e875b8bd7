package modern

import (
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

func TestEncodeHeader(t *testing.T) {
	for _, tc := range []struct{ value, want string }{
		{"us-west1", "us-west1"},
		{"", ""},
		{"a b", "a b"},
		{"~!", "~!"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"a\tb", "=?base64?YQli?="},
		{"\x7f", "=?base64?fw==?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"=?base64?", "=?base64?"},
		{"=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="},
		{"=?BASE64?x?=", "=?BASE64?x?="},
	} {
		if got := EncodeHeader(tc.value); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.value, got, tc.want)
		}
		if back, ok := DecodeHeader(tc.want); !ok || back != tc.value {
			t.Errorf("%q comes back as %q", tc.value, back)
		}
	}
}

func TestDecodeHeader(t *testing.T) {
	for _, tc := range []struct {
		header, want string
		ok           bool
	}{
		{" us-west1\t", "us-west1", true},
		{"a\tb", "a\tb", true},
		{"naïve", "", false}, // to be encoded
		{"a\x7fb", "", false},
		{"\xff", "", false},
		{"=?base64?dXMtd2VzdDE=?=", "us-west1", true},
		{"=?base64??=", "", true},
		{"=?base64?dXMtd2VzdDE?=", "", false}, // no padding
		{"=?base64?_-__?=", "", false},        // the alphabet of URLs
		{"=?base64?YR==?=", "", false},        // bits behind the end
		{"=?base64?/w==?=", "", false},        // no UTF-8
		{"=?base64?YQ==\n?=", "", false},      // a line break
		{"=?base64?YQ==?= ", "a", true},       // a blank behind it
		{"=?Base64?YQ==?=", "=?Base64?YQ==?=", true},
	} {
		if got, ok := DecodeHeader(tc.header); ok != tc.ok || ok && got != tc.want {
			t.Errorf("%q: got %q, %v", tc.header, got, ok)
		}
	}
}

func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"", "a", " a", "=?base64?YQ==?=", "世界", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		DecodeHeader(value)
		header := EncodeHeader(value)
		for _, c := range []byte(header) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q is encoded as %q", value, header)
			}
		}
		if back, ok := DecodeHeader(header); ok && back != value {
			t.Fatalf("%q comes back as %q", value, back)
		}
	})
}

func TestCallHeaders(t *testing.T) {
	codec, err := New(mcp.Version20260728, era.Config{Side: era.ClientSide, Extensions: []mcp.Extension{{
		Identifier: "com.example/shelf", Requests: []string{"shelf/find"}, NameParam: map[string]string{"shelf/find": "book"},
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const revision = mcp.Version20260728
	for _, tc := range []struct {
		name string
		out  era.Outgoing
		want [][2]string
	}{
		{"no name", era.Outgoing{Method: "tools/list"}, [][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "tools/list"}}},
		{"a tool", era.Outgoing{Method: "tools/call", Params: []byte(`{"arguments":{"name":"x"},"name":"n\u00e4ive tool"}`)},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "tools/call"}, {era.HeaderName, "=?base64?bsOkaXZlIHRvb2w=?="}}},
		{"a tool named like a form", era.Outgoing{Method: "tools/call", Params: []byte(`{"name":"=?base64?x?="}`)},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "tools/call"}, {era.HeaderName, "=?base64?PT9iYXNlNjQ/eD89?="}}},
		{"a resource", era.Outgoing{Method: "resources/read", Params: []byte(`{"uri":"book:1"}`)},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "resources/read"}, {era.HeaderName, "book:1"}}},
		{"a name that is no string", era.Outgoing{Method: "tools/call", Params: []byte(`{"name":1}`)},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "tools/call"}}},
		{"of an extension", era.Outgoing{Method: "shelf/find", Params: []byte(`{"book":"a"}`)},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "shelf/find"}, {era.HeaderName, "a"}}},
		{"mirrors", era.Outgoing{Method: "tools/list", Mirrors: [][2]string{{"Mcp-Param-Region", "eu"}}},
			[][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "tools/list"}, {"Mcp-Param-Region", "eu"}}},
		{"a claim of the caller", era.Outgoing{Method: "tools/list", Meta: []byte(`{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}`)},
			[][2]string{{era.HeaderVersion, "2027-01-01"}, {era.HeaderMethod, "tools/list"}}},
	} {
		if got := codec.CallHeaders(&tc.out); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v", tc.name, got)
		}
	}
	if got := codec.NoticeHeaders(&era.Notice{Method: "notifications/cancelled"}); !slices.Equal(got, [][2]string{{era.HeaderVersion, revision}, {era.HeaderMethod, "notifications/cancelled"}}) {
		t.Errorf("of a notification: %v", got)
	}
}
