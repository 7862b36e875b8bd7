package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

type query struct {
	City  string        `json:"city" jsonschema:"min=1,description=A town, with its country"`
	Days  int           `json:"days,omitempty" jsonschema:"min=1,max=14,default=3"`
	Unit  string        `json:"unit,omitzero" jsonschema:"enum=C|F,default=C,title=Unit"`
	Wait  time.Duration `json:"wait,omitempty"`
	Where *point        `json:"where" jsonschema:"where it is"`
}

type point struct{ Lat, Lon float64 }

func ExampleFor() {
	type search struct {
		Text  string   `json:"text" jsonschema:"what to look for"`
		Limit int      `json:"limit,omitempty" jsonschema:"min=1,max=50,default=10,description=How many answers, at most"`
		Kinds []string `json:"kinds,omitempty" jsonschema:"enum=book|map"`
	}
	raw, err := For[search]()
	fmt.Println(string(raw), err)
	// Output:
	// {"type":"object","properties":{"text":{"type":"string","description":"what to look for"},"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"How many answers, at most"},"kinds":{"type":"array","items":{"type":"string","enum":["book","map"]}}},"required":["text"],"additionalProperties":false} <nil>
}

type base struct {
	ID   string `json:"id"`
	Name string // hidden by the outer Name
}

type Extra struct {
	Note string `json:"note"`
}

type embedding struct {
	base
	*Extra
	Name   string
	Hidden string         `json:"-"`
	lower  int            //nolint:unused // an unexported field is no member
	Rest   map[string]int `json:",embed"`
}

type tree struct {
	Label    string  `json:"label"`
	Children []*tree `json:"children"`
}

type forest struct {
	First  tree            `json:"first"`
	Others map[string]tree `json:"others"`
}

type kinds struct {
	B    bool             `json:"b"`
	I    int              `json:"i"`
	I8   int8             `json:"i8"`
	I64  int64            `json:"i64"`
	U    uint             `json:"u"`
	U16  uint16           `json:"u16"`
	F    float64          `json:"f"`
	T    time.Time        `json:"t"`
	D    time.Duration    `json:"d"`
	Data []byte           `json:"data"`
	Hash [4]byte          `json:"hash"`
	Pair [2]int           `json:"pair"`
	Raw  json.RawMessage  `json:"raw"`
	Val  jsontext.Value   `json:"val"`
	Any  any              `json:"any"`
	M    map[string]bool  `json:"m"`
	N    map[int16]string `json:"n"`
	P    *int             `json:"p"`
	Addr netip.Addr       `json:"addr"`
	Own  celsius          `json:"own"`
}

type celsius float64

func (celsius) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"number","minimum":-273.15}`)
}

func TestForType(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"empty", reflect.TypeFor[struct{}](), `{"type":"object","properties":{},"additionalProperties":false}`},
		{"map", reflect.TypeFor[map[string]int](), `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"slice", reflect.TypeFor[[]string](), `{"type":"array","items":{"type":"string"}}`},
		{"any", reflect.TypeFor[any](), `{}`},
		{"embedding", reflect.TypeFor[embedding](), `{"type":"object","properties":{"Name":{"type":"string"},"id":{"type":"string"},"note":{"type":"string"}},` +
			`"required":["Name","id"],"additionalProperties":{"type":"integer"}}`},
		{"tree", reflect.TypeFor[*tree](), `{"type":"object","properties":{"label":{"type":"string"},"children":{"type":"array","items":` +
			`{"anyOf":[{"$ref":"#"},{"type":"null"}]}}},"required":["label","children"],"additionalProperties":false}`},
		{"forest", reflect.TypeFor[forest](), `{"type":"object","properties":{"first":{"$ref":"#/$defs/tree"},"others":{"type":"object","additionalProperties":{"$ref":"#/$defs/tree"}}},` +
			`"required":["first","others"],"additionalProperties":false,"$defs":{"tree":{"type":"object","properties":{"label":{"type":"string"},"children":{"type":"array","items":` +
			`{"anyOf":[{"$ref":"#/$defs/tree"},{"type":"null"}]}}},"required":["label","children"],"additionalProperties":false}}}`},
		{"settings", reflect.TypeFor[struct {
			A *string  `jsonschema:"enum=x\\|y|z,default=z"`
			B []int    `jsonschema:"min=1,max=3,enum=1|2"`
			C string   `jsonschema:"pattern=^a\\,b$,header=My-Header"`
			D string   `jsonschema:"format=email"`
			E bool     `jsonschema:"default=true"`
			F []string `jsonschema:"default=[\"a\"\\,\"b\"]"`
			G string   `jsonschema:"equals: a = b"`
		}](), `{"type":"object","properties":{"A":{"type":["string","null"],"enum":["x|y","z",null],"default":"z"},"B":{"type":"array","items":{"type":"integer","enum":[1,2]},"minItems":1,"maxItems":3},` +
			`"C":{"type":"string","pattern":"^a,b$","x-mcp-header":"My-Header"},"D":{"type":"string","format":"email"},"E":{"type":"boolean","default":true},` +
			`"F":{"type":"array","items":{"type":"string"},"default":["a","b"]},"G":{"type":"string","description":"equals: a = b"}},"required":["B","C","D","G"],"additionalProperties":false}`},
		{"kinds", reflect.TypeFor[kinds](), `{"type":"object","properties":{"b":{"type":"boolean"},"i":{"type":"integer"},"i8":{"type":"integer","minimum":-128,"maximum":127},"i64":{"type":"integer"},` +
			`"u":{"type":"integer","minimum":0},"u16":{"type":"integer","minimum":0,"maximum":65535},"f":{"type":"number"},"t":{"type":"string","format":"date-time"},` +
			`"d":{"type":"string","minLength":2,"pattern":` + string(quote(durationPattern)) + `},"data":{"type":"string","contentEncoding":"base64","pattern":` + string(quote(base64Pattern)) + `},` +
			`"hash":{"type":"string","contentEncoding":"base64","pattern":"^[A-Za-z0-9+/]{6}==$"},"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},` +
			`"raw":{},"val":{},"any":{},"m":{"type":"object","additionalProperties":{"type":"boolean"}},"n":{"type":"object","propertyNames":{"pattern":"^(0|-?[1-9][0-9]*)$"},"additionalProperties":{"type":"string"}},` +
			`"p":{"type":["integer","null"]},"addr":{"type":"string"},"own":{"type":"number","minimum":-273.15}},` +
			`"required":["b","i","i8","i64","u","u16","f","t","d","data","hash","pair","raw","val","any","m","n","addr","own"],"additionalProperties":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // the output is always the same
				raw, err := ForType(c.typ)
				if err != nil {
					t.Fatal(err)
				}
				if string(raw) != c.want {
					t.Fatalf("\n got %s\nwant %s", raw, c.want)
				}
			}
			mustCompile(t, c.want)
		})
	}
}

func TestForTypeRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"nil", nil, "no type"},
		{"channel", reflect.TypeFor[struct{ C chan int }](), ".C: type chan int has no JSON form"},
		{"function", reflect.TypeFor[struct{ A []func() }](), ".A: type func() has no JSON form"},
		{"interface", reflect.TypeFor[struct{ E error }](), "error has no JSON form"},
		{"key", reflect.TypeFor[map[float64]int](), "a map key must be"},
		{"json.Number", reflect.TypeFor[struct{ N json.Number }](), "json.Number"},
		{"option", reflect.TypeFor[struct {
			N int `json:"n,string"`
		}](), `.N: the json option "string"`},
		{"unknown setting", reflect.TypeFor[struct {
			N int `jsonschema:"minimum=1"`
		}](), `.N: jsonschema tag: "minimum" is not known`},
		{"setting twice", reflect.TypeFor[struct {
			N int `jsonschema:"min=1,min=2"`
		}](), `"min" stands twice`},
		{"no setting", reflect.TypeFor[struct {
			N int `jsonschema:"min=1,required"`
		}](), `"required" is no setting`},
		{"bound of a bool", reflect.TypeFor[struct {
			N bool `jsonschema:"min=1"`
		}](), `"min" is for numbers`},
		{"bound no number", reflect.TypeFor[struct {
			N int `jsonschema:"min=one"`
		}](), `"min" must be a number`},
		{"wrong default", reflect.TypeFor[struct {
			N int `jsonschema:"default=x"`
		}](), `"default" has a value "x" that is no int`},
		{"empty enum", reflect.TypeFor[struct {
			N string `jsonschema:"enum="`
		}](), `"enum" lists no value`},
		{"pattern of a number", reflect.TypeFor[struct {
			N int `jsonschema:"pattern=a"`
		}](), `"pattern" is for strings`},
		{"embedded pointer to a hidden type", reflect.TypeFor[struct{ *point }](), "cannot be set"},
		{"embedded methods", reflect.TypeFor[struct {
			time.Time
			*big.Int
		}](), "cannot be embedded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ForType(c.typ)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestForInputWantsAnObject(t *testing.T) {
	if _, err := ForInput(reflect.TypeFor[query]()); err != nil {
		t.Fatal(err)
	}
	if _, err := ForInput(reflect.TypeFor[[]int]()); err == nil {
		t.Fatal("a list passes for an input")
	}
}
