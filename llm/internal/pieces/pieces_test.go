package pieces

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// TestMerge shows how pieces of members that nobody has heard of are joined.
func TestMerge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"strings grow", []string{`{"a":"x"}`, `{"a":"yø"}`, `{"a":"\n\""}`}, `{"a":"xyø\n\""}`},
		{"names do not", []string{`{"id":"x","type":"t"}`, `{"id":"x","type":""}`}, `{"id":"x","type":"t"}`},
		{"null changes nothing", []string{`{"a":null}`, `{"a":"x"}`, `{"a":null}`}, `{"a":"x"}`},
		{"of numbers and flags the last counts", []string{`{"a":1,"b":true}`, `{"a":2.50,"b":false}`}, `{"a":2.50,"b":false}`},
		{"objects are joined", []string{`{"a":{"b":"x","n":1}}`, `{"a":{"b":"y","c":[]}}`}, `{"a":{"b":"xy","n":1,"c":[]}}`},
		{"items with an index are joined, others follow", []string{`{"l":[{"index":1,"t":"a"},7]}`, `{"l":[{"index":0,"t":"z"},{"index":1,"t":"b"},7]}`}, `{"l":[{"index":1,"t":"ab"},7,{"index":0,"t":"z"},7]}`},
		{"kinds that change", []string{`{"a":1,"b":"x","c":{"d":1}}`, `{"a":"x","b":[1],"c":"y"}`}, `{"a":"x","b":[1],"c":"y"}`},
	} {
		o := (&Room{}).New()
		for _, p := range tc.pieces {
			o.Merge([]byte(p))
		}
		if got := string(o.JSON()); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestManyMembers holds that an object with so many members that it keeps a table of them is still the same object.
func TestManyMembers(t *testing.T) {
	room := &Room{}
	o := room.New()
	for i := range 3 * many {
		o.Set(fmt.Sprintf("m%d", i), json.RawMessage("0"))
		o.Add(fmt.Sprintf("m%d", i), "x")
	}
	o.Drop("m3")
	o.Drop("m3")
	o.Set("m40", json.RawMessage("1"))
	o.SetText("m3", "again")
	if o.Text("m2") != "x" || string(o.Get("m40")) != "1" || o.Text("m3") != "again" || o.Len("m2") != 1 || o.Has("m99") || len(o.names) != 3*many {
		t.Errorf("%s", o.JSON())
	}
	l := o.List("l")
	for i := range 1000 {
		l.merge(fmt.Appendf(nil, `[{"index":%d,"t":"a"}]`, i%500))
	}
	if l.Len() != 500 || l.At(499).Text("t") != "aa" || l.At(500) != nil || !o.IsList("l") {
		t.Errorf("%d items, the last %s", l.Len(), l.At(499).JSON())
	}
}

// TestRoomIsExact holds that what is taken is what is kept, whatever members become on the way, so that a room neither fills
// with what is gone nor grows by giving back too much.
func TestRoomIsExact(t *testing.T) {
	room := &Room{}
	o := room.New()
	check := func(after string) {
		t.Helper()
		if room.used != o.cost() {
			t.Errorf("%s: %d bytes are taken, %d kept", after, room.used, o.cost())
		}
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"set", func() { o.Set("a", json.RawMessage(`"x\u0001"`)) }},
		{"a raw string grows", func() { o.Add("a", "yz") }},
		{"a text is replaced", func() { o.SetText("a", "again") }},
		{"an object is entered", func() { o.Set("o", json.RawMessage(`{"b":[1,{"index":0}]}`)); o.Object("o").Add("c", "x") }},
		{"a list is entered", func() { o.Object("o").List("b").Append(json.RawMessage("2")) }},
		{"an item is entered", func() { o.Object("o").List("b").At(1).Add("t", "x") }},
		{"an item that is no object", func() { o.Object("o").List("b").At(0) }},
		{"a list becomes a text", func() { o.Object("o").Add("b", "x") }},
		{"an object becomes a list", func() { o.List("o") }},
		{"merged", func() {
			o.Merge([]byte(`{"a":"x","o":[{"index":3}],"n":{"m":1}}`))
			o.Merge([]byte(`{"o":[{"index":3,"t":"x"}],"n":7}`))
		}},
		{"dropped", func() { o.Drop("o") }},
	} {
		step.do()
		check(step.name)
	}
	room.Forget(o)
	if room.used != 0 {
		t.Errorf("%d bytes are left", room.used)
	}
}

// TestRoom holds that nothing is kept past the bound, and that what is said anew counts once.
func TestRoom(t *testing.T) {
	room := &Room{Max: 1000}
	o := room.New()
	for range 1000 {
		o.Set("n", json.RawMessage("123456789"))
	}
	if room.Err() != nil {
		t.Errorf("one member, set again and again: %v", room.Err())
	}
	for range 1000 {
		o.Add("t", "0123456789")
	}
	if room.Err() == nil || o.Len("t") > 1000 {
		t.Errorf("%d bytes are kept: %v", o.Len("t"), room.Err())
	}
	room.Close(errors.New("second"))
	if room.Err().Error() != "the answer has more than 1000 bytes" {
		t.Errorf("%v", room.Err())
	}
}
