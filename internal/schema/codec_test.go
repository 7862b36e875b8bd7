package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"
)

func codecFor[T any](t testing.TB) *Codec {
	t.Helper()
	c, err := CodecFor(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ExampleDecode() {
	type wait struct {
		For   time.Duration `json:"for"`
		Times int           `json:"times,omitempty" jsonschema:"default=3,description=how often"`
	}
	codec, err := CodecFor(reflect.TypeFor[wait]())
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := Decode[wait](codec, json.RawMessage(`{"for":"1m30s"}`))
	fmt.Println(in.For, in.Times, err)
	out, err := codec.Encode(in)
	fmt.Println(string(out), err)
	// Output:
	// 1m30s 3 <nil>
	// {"for":"1m30s","times":3} <nil>
}

func TestDecode(t *testing.T) {
	c := codecFor[query](t)
	for _, x := range []struct {
		raw  string
		want query
	}{
		{`{"city":"Oslo"}`, query{City: "Oslo", Days: 3, Unit: "C"}},
		{`{"city":"Oslo","days":0,"unit":""}`, query{City: "Oslo"}},
		{`{"city":"Oslo","days":7.0,"unit":"F"}`, query{City: "Oslo", Days: 7, Unit: "F"}},
		{`{"city":"Oslo","days":1e1}`, query{City: "Oslo", Days: 10, Unit: "C"}},
		{`{"City":"Bergen","city":"Oslo"}`, query{City: "Oslo", Days: 3, Unit: "C"}},
		{`{"city":"Oslo","wait":"1m30s","where":{"Lat":1,"Lon":2}}`, query{City: "Oslo", Days: 3, Unit: "C", Wait: 90 * time.Second, Where: &point{1, 2}}},
		{`{"city":"Oslo","where":null}`, query{City: "Oslo", Days: 3, Unit: "C"}},
	} {
		got, err := Decode[query](c, json.RawMessage(x.raw))
		if err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %+v %v", x.raw, got, err)
		}
	}
}

func TestDecodeLenientForms(t *testing.T) {
	type odd struct {
		I   int
		U   uint8
		L   []int64
		M   map[int]int32
		P   *int
		T   time.Time
		Raw json.RawMessage
	}
	c := codecFor[odd](t)
	raw := `{"I":-2.0,"U":25.5e1,"L":[1,2.0,9007199254740993.0],"M":{"3":4.0},"P":5.00,"T":"2016-12-31t23:59:60z","Raw":1.0}`
	if err := mustCompile(t, string(must(For[odd]())(t))).Validate(json.RawMessage(raw)); err != nil {
		t.Fatal(err)
	}
	got, err := Decode[odd](c, json.RawMessage(raw))
	five := 5
	want := odd{-2, 255, []int64{1, 2, 9007199254740993}, map[int]int32{3: 4}, &five, time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC), json.RawMessage(`1.0`)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v %v", got, err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestInferredPatternsAreNamed(t *testing.T) {
	type form struct {
		Wait time.Duration
		Data []byte
	}
	err := mustCompile(t, string(must(For[form]())(t))).Validate(json.RawMessage(`{"Wait":"soon","Data":"?"}`))
	if want := `/Data: must be base64, got "?"; /Wait: must be a duration like 1m30s, got "soon"`; err == nil || err.Error() != want {
		t.Fatalf("got %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	c := codecFor[kinds](t)
	for _, x := range []struct{ raw, path, rule string }{
		{`{"i":"secret"}`, "/i", "type"},
		{`{"i64":9223372036854775808}`, "/i64", "range"},
		{`{"i64":1e30}`, "/i64", "range"},
		{`{"i8":1000}`, "/i8", "range"},
		{`{"f":1e999}`, "/f", "range"},
		{`{"i":1.5}`, "/i", "type"},
		{`{"d":"2499999h9999m"}`, "/d", "range"},
		{`{"n":{"99999":""}}`, "/n/99999", "range"},
		{`{"addr":"secret"}`, "/addr", "type"},
		{`{"d":"secret"}`, "/d", "type"},
		{`{"d":5}`, "/d", "type"},
		{`{"pair":[1]}`, "/pair", "type"},
		{`{"i":1,"i":2}`, "", "json"},
		{`{`, "", "json"},
	} {
		_, err := Decode[kinds](c, json.RawMessage(x.raw))
		verdict, ok := errors.AsType[*ValidationError](err)
		if !ok {
			t.Errorf("%s: %v", x.raw, err)
			continue
		}
		if v := verdict.Violations[0]; v.Path != x.path || v.Rule != x.rule {
			t.Errorf("%s: %+v", x.raw, v)
		}
	}
}

func TestEncode(t *testing.T) {
	type all struct {
		Empty  string         `json:"empty,omitempty"`
		Zero   int            `json:"zero,omitempty"`
		No     bool           `json:"no,omitempty"`
		Struct point          `json:"struct,omitempty"`
		List   []int          `json:"list"`
		Map    map[string]int `json:"map"`
		Untag  *int
		Wait   time.Duration `json:"wait"`
	}
	got, err := codecFor[all](t).Encode(all{Map: map[string]int{"b": 1, "a": 2}, Wait: -time.Millisecond})
	if want := `{"struct":{"Lat":0,"Lon":0},"list":[],"map":{"a":2,"b":1},"Untag":null,"wait":"-1ms"}`; err != nil || string(got) != want {
		t.Fatalf("%s %v", got, err)
	}
	if _, err := codecFor[all](t).Encode(all{Wait: maxDuration + 1}); err == nil {
		t.Fatal("a duration outside the schema was written")
	}
}

// What is encoded passes the inferred schema and comes back the same.
func TestEncodedValuesPassTheirSchema(t *testing.T) {
	roundTrip[kinds](t)
	roundTrip[query](t)
	roundTrip[embedding](t)
	roundTrip[forest](t)
	roundTrip[[]map[string]*point](t)
}

func roundTrip[T any](t *testing.T) {
	t.Helper()
	c := codecFor[T](t)
	s := mustCompile(t, string(must(For[T]())(t)))
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var v T
		fill(r, reflect.ValueOf(&v).Elem(), 3)
		raw, err := c.Encode(v)
		if err != nil {
			t.Fatalf("%+v: %v", v, err)
		}
		if err := s.Validate(raw); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		back, err := Decode[T](c, raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if again, err := c.Encode(back); err != nil || string(again) != string(raw) {
			t.Fatalf("%s became %s, %v", raw, again, err)
		}
	}
}

// fill sets random contents, edges included.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
		return
	case *time.Duration:
		*p = time.Duration(r.Int64N(int64(maxDuration))) * time.Duration(1-2*r.IntN(2)) >> r.IntN(60)
		return
	case *json.RawMessage:
		*p = json.RawMessage(`{"a":[1,null]}`)
		return
	case *any:
		*p = "x"
		return
	case *query:
		*p = query{City: "c" + strconv.Itoa(r.IntN(9)), Days: 1 + r.IntN(14), Unit: "F", Wait: time.Duration(r.IntN(2)) * time.Hour}
		return
	case *celsius:
		*p = celsius(r.IntN(100))
		return
	}
	if v.Type() == jsontextValueType {
		v.SetBytes([]byte(`[true]`))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString([]string{"", "a", "é\n\"", "\u2028", "日本"}[r.IntN(5)])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits() + r.IntN(v.Type().Bits())))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits() + r.IntN(v.Type().Bits())))
	case reflect.Float64:
		v.SetFloat((r.Float64() - 0.5) * []float64{1, 1e3, 1e25, 1e-9}[r.IntN(4)])
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		for range r.IntN(depth + 1) {
			item := reflect.New(v.Type().Elem()).Elem()
			fill(r, item, depth-1)
			v.Set(reflect.Append(v, item))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(depth + 1) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, 0)
			fill(r, value, depth-1)
			if key.Kind() == reflect.String {
				key.SetString("k" + key.String())
			}
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(r, v.Field(i), depth)
			}
		}
	}
}

func TestDefaultsBehindPointers(t *testing.T) {
	type Inner struct {
		Deep int `jsonschema:"default=9"`
	}
	type outer struct {
		*Inner
		P *int `jsonschema:"default=7"`
	}
	c := codecFor[*outer](t)
	a, err := Decode[*outer](c, json.RawMessage(`{}`))
	if err != nil || a.P == nil || *a.P != 7 || a.Inner != nil {
		t.Fatalf("%+v %v", a, err)
	}
	*a.P = 8 // each value has a default of its own
	b, err := Decode[*outer](c, json.RawMessage(`{}`))
	if err != nil || *b.P != 7 {
		t.Fatalf("%d %v", *b.P, err)
	}
	if d, err := Decode[*outer](c, json.RawMessage(`{"P":null}`)); err != nil || d.P != nil {
		t.Fatalf("%+v %v", d, err)
	}
	if _, err := CodecFor(reflect.TypeFor[struct {
		N int8 `jsonschema:"default=1000"`
	}]()); err == nil {
		t.Fatal("a default outside its type passes")
	}
}

// FuzzDecodeWhatPasses: what passes the inferred schema decodes, but for the exceptions the package names.
func FuzzDecodeWhatPasses(f *testing.F) {
	type input struct {
		I    int16                 `json:"i,omitempty"`
		U    uint32                `json:"u,omitempty"`
		T    time.Time             `json:"t,omitzero"`
		D    time.Duration         `json:"d,omitempty"`
		B    []byte                `json:"b,omitempty"`
		H    [2]byte               `json:"h,omitzero"`
		M    map[string]*[2]int8   `json:"m,omitempty"`
		N    map[uint]bool         `json:"n,omitempty"`
		Raw  json.RawMessage       `json:"raw,omitempty"`
		Enum string                `json:"enum,omitempty" jsonschema:"enum=a|b,default=b"`
		Next *input                `json:"next"`
		List []struct{ F float32 } `json:"list,omitempty"`
	}
	c := codecFor[input](f)
	s := mustCompile(f, string(must(For[input]())(f)))
	for _, seed := range []string{
		`{"i":1.0,"u":4294967295,"t":"2026-01-02T03:04:05.123+01:00","d":"1h30m","b":"AAA=","h":"AAA="}`,
		`{"m":{"a":[1,2],"b":null},"n":{"7":true},"raw":{"x":1},"enum":"a","next":{"next":null},"list":[{"F":1.5}]}`,
		`{"t":"2016-12-31T23:59:60Z","d":"2499999.9h99999m9999999s"}`, `{"d":"-0.5us"}`, `{"d":"1µs"}`, `{"n":{"99999999999999999999":true}}`,
		`{"i":1e2,"u":0e5,"d":"0.99999999999999999999ms"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if s.Validate(json.RawMessage(raw)) != nil {
			return
		}
		v, err := Decode[input](c, json.RawMessage(raw))
		if verdict, ok := errors.AsType[*ValidationError](err); ok && verdict.Violations[0].Rule == "range" {
			return
		}
		if err != nil {
			t.Fatalf("%s passes and does not decode: %v", raw, err)
		}
		again, err := c.Encode(v)
		if err != nil {
			t.Fatalf("%s decodes and does not encode: %v", raw, err)
		}
		if err := s.Validate(again); err != nil {
			t.Fatalf("%s became %s, which does not pass: %v", raw, again, err)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	type small struct {
		Text string `json:"text"`
	}
	c, raw := codecFor[small](b), json.RawMessage(`{"text":"hello, world"}`)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode[small](c, raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		v := &small{"hello, world"}
		for b.Loop() {
			if _, err := c.Encode(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
