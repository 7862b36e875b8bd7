package schema

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object in the making, its members in order.
type object []member

type member struct {
	name string
	raw  []byte
}

func typed(name string) object { return object{{"type", quote(name)}} }

func (o object) get(name string) ([]byte, bool) {
	for _, m := range o {
		if m.name == name {
			return m.raw, true
		}
	}
	return nil, false
}

// set replaces a member in its place or adds it at the end.
func (o *object) set(name string, raw []byte) {
	for i, m := range *o {
		if m.name == name {
			(*o)[i].raw = raw
			return
		}
	}
	*o = append(*o, member{name, raw})
}

func (o object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, quote(m.name)...), ':'), m.raw...)
	}
	return append(dst, '}')
}

// quote writes a JSON string. What is not UTF-8 becomes the replacement character.
func quote(text string) []byte {
	raw, _ := jsontext.AppendQuote(nil, text) // its one error tells of a replacement it has made
	return raw
}

func quoteAll(texts []string) []byte {
	list := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, quote(text)...)
	}
	return append(list, ']')
}

// splitObject reads the members of a JSON object. Their bytes are copies.
func splitObject(raw []byte) (object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() != '{' {
		return nil, errors.New("it is not an object")
	}
	o := object{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		o = append(o, member{key, bytes.Clone(value)})
	}
	_, err = dec.ReadToken()
	return o, err
}
