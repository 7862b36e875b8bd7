package seal_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/seal"
)

func full() *seal.Record {
	state, at, told := "from the handler \x00 é", link, 2.5
	return &seal.Record{
		Link: at, State: &state, Progress: &told, ByCall: true,
		Kept:  []seal.Answer{{Name: "who", Raw: []byte(`{"action":"decline"}`)}},
		Asked: []seal.Question{{Key: "city", Request: []byte(`{"method":"elicitation/create","params":{}}`)}},
		Answers: []seal.Answer{
			{Kind: "elicitation/create form", Name: "date", Form: []byte{1, 2, 3}, Raw: []byte(`{"action":"accept", "content":{"n":9007199254740993}}`)},
			{Kind: "roots/list", Raw: []byte(`{"roots":[]}`)},
		},
		Once: []seal.OnceResult{{Key: "pay", After: 2, Raw: []byte(`"receipt"`)}, {Key: "mail", After: 0, Raw: []byte(`null`)}},
	}
}

func encode(t testing.TB, r *seal.Record) []byte {
	t.Helper()
	data, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRecordComesBack(t *testing.T) {
	empty := ""
	for name, r := range map[string]*seal.Record{"full": full(), "empty": {Link: link}, "empty state": {State: &empty}} {
		data := encode(t, r)
		back, err := seal.DecodeRecord(data)
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s comes back as %+v, %v", name, back, err)
		}
		for i := range len(data) {
			if _, err := seal.DecodeRecord(data[:i]); !errors.Is(err, seal.ErrRecord) {
				t.Errorf("%s cut to %d of %d bytes: %v", name, i, len(data), err)
			}
		}
		if _, err := seal.DecodeRecord(append(data, 0)); !errors.Is(err, seal.ErrRecord) {
			t.Errorf("%s with a byte too many: %v", name, err)
		}
	}
	if size := len(encode(t, &seal.Record{})); size > 32 {
		t.Errorf("an empty record takes %d bytes", size)
	}
}

func TestRecordOfAnotherVersion(t *testing.T) {
	data := encode(t, full())
	for _, version := range []byte{0, 1, 255} {
		data[0] = version
		if _, err := seal.DecodeRecord(data); !errors.Is(err, seal.ErrRecord) || !strings.Contains(err.Error(), "version") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func TestRecordRefusesToAppend(t *testing.T) {
	for _, after := range []int{-1, 1 << 31} {
		if _, err := (&seal.Record{Once: []seal.OnceResult{{Key: "pay", After: after}}}).Append(nil); err == nil {
			t.Errorf("a step after %d answers was written", after)
		}
	}
}

func TestRecordOfToken(t *testing.T) {
	s := sealer(t, seal.Options{})
	open := func(at seal.Link, payload []byte) seal.Opened {
		token, err := s.Seal(t.Context(), binding, at, payload, now, 0)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Open(t.Context(), token, binding, now)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	r := full()
	if back, err := open(r.Link, encode(t, r)).Record(); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("comes back as %+v, %v", back, err)
	}
	for name, o := range map[string]seal.Opened{
		"of another round": open(seal.Link{Chain: link.Chain, Round: link.Round + 1}, encode(t, r)),
		"of another chain": open(seal.Link{Chain: seal.NewChain(), Round: link.Round}, encode(t, r)),
		"no record":        open(link, []byte("x")),
	} {
		if _, err := o.Record(); !errors.Is(err, seal.ErrInvalid) || seal.ReasonOf(err) != seal.ReasonMalformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(encode(f, full()))
	f.Add(encode(f, &seal.Record{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := seal.DecodeRecord(data)
		if err != nil {
			return
		}
		back, err := seal.DecodeRecord(encode(t, r))
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("%+v comes back as %+v, %v", r, back, err)
		}
	})
}
