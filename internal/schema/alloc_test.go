//go:build !race

// The race detector makes pools forget at random, so counts of allocations mean nothing under it.

package schema

import (
	"encoding/json"
	"testing"
	"time"
)

func TestValidateAllocatesNothing(t *testing.T) {
	for _, c := range []struct{ schema, value string }{
		{`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, `{"text":"hello, world"}`},
		{fiveMembers, fiveValues},
		{`{"type":"object","properties":{"s":{"type":"string","pattern":"^[a-z]+$"}}}`, `{"s":"abc"}`},
		{`{"type":"object"}`, `{"a":{"b":[1,2,{"c":null}]},"d":"\n"}`},
	} {
		s, raw := mustCompile(t, c.schema), json.RawMessage(c.value)
		if n := testing.AllocsPerRun(100, func() {
			if s.Validate(raw) != nil {
				t.Fatal("does not fit")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.schema, n)
		}
	}
}

func TestDecodeAllocates(t *testing.T) {
	type small struct {
		Text string `json:"text"`
	}
	type waits struct {
		For time.Duration `json:"for"`
	}
	c, raw := codecFor[small](t), json.RawMessage(`{"text":"a text that is not interned because it is rather long, so that it costs one allocation, as each such text from a peer does: its bytes are the message's, its string is the caller's, and nothing more is needed than that; and so on it goes until it is longer than 256 bytes"}`)
	if n := testing.AllocsPerRun(100, func() {
		if v, err := Decode[small](c, raw); err != nil || v.Text == "" {
			t.Fatal(err)
		}
	}); n > 2 {
		t.Errorf("%v allocations", n)
	}
	d := codecFor[waits](t)
	if n := testing.AllocsPerRun(100, func() {
		if v, err := Decode[waits](d, json.RawMessage(`{"for":"1m"}`)); err != nil || v.For != time.Minute {
			t.Fatal(err)
		}
	}); n > 4 {
		t.Errorf("%v allocations with a duration", n)
	}
}
