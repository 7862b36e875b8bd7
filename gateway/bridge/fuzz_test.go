package bridge

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// twoServers is a view in which the addresses of b are shown rewritten.
func twoServers(t testing.TB) *view {
	lists := &upstream.Lists{ServesResources: true, Resources: []upstream.Item{{Key: "u:x", Raw: json.RawMessage(`{"uri":"u:x"}`)}}}
	v, err := build(&Rules{}, []upstream.Snapshot{
		{Status: upstream.Status{Status: manager.Status{Name: "a"}}, Lists: lists}, {Status: upstream.Status{Status: manager.Status{Name: "b"}}, Lists: lists},
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// inServer is a destination there; what it is about plays no part.
func inServer(name string) destination {
	return destination{Target: route.Target{Server: name, Name: "u:asked"}, asked: "u:asked"}
}

// FuzzAddresses holds that whatever an upstream answers stays valid JSON, and stays byte for byte for the server that keeps
// its addresses.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"content":[]}`, `{"content":{}}`, `{"content":[1,null,{"type":"resource_link","uri":"u:x"}]}`,
		`{"contents":[{"uri":"u:x","text":"a"},{"uri":7},8,{}]}`, `{"messages":[{"content":{"type":"resource","resource":{"uri":"u:x"}}},{}]}`,
		`{"content":[{"type":"resource","resource":"u:x"},{"type":"resource_link","uri":"\u0075:y","n":1.0e0}],"z":12345678901234567890}`,
		`{"_meta":{"ui":{"resourceUri":"u:x","csp":{"connectDomains":["u:x"]}},"ui/resourceUri":7,"openai/outputTemplate":"u:\u0078"}}`,
		`{"skill":{"uri":"skill://t/SKILL.md","resources":[{"uri":"skill://t/SKILL.md"},{"uri":"skill://t/a"},7,{"uri":""},{}]}}`,
		`{"skill":{"uri":"skill://t/SKILL.md","resources":"dynamic"}}`, `{"resources":[{"uri":"u:asked/b"},{"uri":"u:x"},null]}`,
	} {
		f.Add([]byte(seed))
	}
	v := twoServers(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		for _, r := range relays {
			if r.back == nil {
				continue
			}
			if out := r.back(v, inServer("b"), in); !json.Valid(out) {
				t.Errorf("%s became %s", in, out)
			}
			if out := r.back(v, destination{Target: route.Target{Server: "b"}, asked: "rialto+b:"}, in); !json.Valid(out) {
				t.Errorf("%s became %s for an empty address", in, out)
			}
			if out := r.back(v, inServer("stranger"), in); !bytes.Equal(out, in) {
				t.Errorf("%s became %s for a server without resources", in, out)
			}
		}
	})
}

func TestAddresses(t *testing.T) {
	v := twoServers(t)
	const in = `{"content":[{"n":1.0e0,"type":"resource_link","uri":"u:x"} , {"type":"text","uri":"u:x"}], "z":"\/"}`
	const want = `{"content":[{"n":1.0e0,"type":"resource_link","uri":"rialto+b:u:x"},{"type":"text","uri":"u:x"}], "z":"\/"}`
	if got := toolBack(v, inServer("b"), json.RawMessage(in)); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := toolBack(v, inServer("a"), json.RawMessage(in)); string(got) != in {
		t.Errorf("got %s for the server that keeps its address", got)
	}
}
