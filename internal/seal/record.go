package seal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// recordVersion is the first byte of an encoded record. Another version is refused, so that replicas of two releases never
// misread each other; a retry that meets one is asked to begin again.
const recordVersion = 2

// Record is the state of one chain of runs between two rounds.
type Record struct {
	Link

	// State is what the handler gave by return, nil when it gave none.
	State *string

	// Asked are the questions that are open, so that a missing one can be asked again and an answer checked.
	Asked []Question

	// Answers are those to questions asked by call, in the order their questions were asked. They have been checked against
	// what was asked. One without Raw is open; Asked has the open ones, in the same order.
	Answers []Answer

	// ByCall says that the run before ended with a question asked by call, and not with one that the handler returned.
	ByCall bool

	// Kept are answers to questions that the handler has returned, which it may still want to see.
	Kept []Answer

	// Progress is the last that the client was told, nil when it was told nothing.
	Progress *float64

	// Once holds the results of steps that must not run again, in the order they ran.
	Once []OnceResult
}

// Question is one that was sent with this round.
type Question struct {
	Key     string          // under which it was asked
	Request json.RawMessage // {"method":...,"params":{...}}: as it was sent, or as much of it as its answer is checked against
}

// Answer is one that has been given. Its place in the list is its ordinal.
type Answer struct {
	Kind string          // what was asked for: the method, and the mode where there is one
	Name string          // the name the handler gave the question, "" for none
	Form []byte          // a hash of the schema that was asked with, nil for none
	Raw  json.RawMessage // as it came
}

// OnceResult is the result of one step.
type OnceResult struct {
	Key   string          // of the step
	After int             // how many answers had been used before the step ran
	Raw   json.RawMessage // as it was marshalled
}

// Flags of an encoded record.
const (
	flagState = 1 << iota // a state follows
	flagByCall
	flagProgress // eight bytes follow the state
)

// ErrRecord says that bytes are no record of this release.
var ErrRecord = errors.New("not a record of this version")

// Append appends the record's compact form to dst. Raw values are copied as they are. It fails when After is negative or
// larger than 2^31-1.
func (r *Record) Append(dst []byte) ([]byte, error) {
	dst = append(dst, recordVersion)
	dst = binary.BigEndian.AppendUint16(dst, r.Round)
	dst = append(dst, r.Chain[:]...)
	flags := byte(0)
	if r.ByCall {
		flags |= flagByCall
	}
	if r.Progress != nil {
		flags |= flagProgress
	}
	if r.State == nil {
		dst = append(dst, flags)
	} else {
		dst = appendPart(append(dst, flags|flagState), *r.State)
	}
	if r.Progress != nil {
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(*r.Progress))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Asked)))
	for _, q := range r.Asked {
		dst = appendPart(appendPart(dst, q.Key), q.Request)
	}
	for _, list := range [][]Answer{r.Answers, r.Kept} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, a := range list {
			dst = appendPart(appendPart(appendPart(appendPart(dst, a.Kind), a.Name), a.Form), a.Raw)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Once)))
	for _, o := range r.Once {
		if o.After < 0 || o.After > math.MaxInt32 {
			return nil, fmt.Errorf("step %q stands after %d answers, which cannot be", o.Key, o.After)
		}
		dst = binary.AppendUvarint(appendPart(dst, o.Key), uint64(o.After))
		dst = appendPart(dst, o.Raw)
	}
	return dst, nil
}

func appendPart[T ~string | ~[]byte](dst []byte, part T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

// DecodeRecord reads what Append wrote. The record points into data, which must not change afterwards. Empty parts come
// back nil. It fails with [ErrRecord] for another version, and for anything cut short or drawn out.
func DecodeRecord(data []byte) (*Record, error) {
	p := parts{rest: data}
	if version := p.take(1); len(version) == 1 && version[0] != recordVersion {
		return nil, fmt.Errorf("%w: it has version %d, and this release reads version %d", ErrRecord, version[0], recordVersion)
	}
	r := &Record{}
	if head := p.take(2 + len(r.Chain)); !p.bad {
		r.Round, r.Chain = binary.BigEndian.Uint16(head), ChainID(head[2:])
	}
	if flags := p.take(1); !p.bad {
		p.bad = flags[0]&^(flagState|flagByCall|flagProgress) != 0
		r.ByCall = flags[0]&flagByCall != 0
		if flags[0]&flagState != 0 {
			text := string(p.part())
			r.State = &text
		}
		r.Progress = p.float(flags[0]&flagProgress != 0)
	}
	for n := p.count(); n > 0 && !p.bad; n-- {
		r.Asked = append(r.Asked, Question{Key: string(p.part()), Request: p.part()})
	}
	for _, list := range []*[]Answer{&r.Answers, &r.Kept} {
		for n := p.count(); n > 0 && !p.bad; n-- {
			*list = append(*list, Answer{Kind: string(p.part()), Name: string(p.part()), Form: p.part(), Raw: p.part()})
		}
	}
	for n := p.count(); n > 0 && !p.bad; n-- {
		r.Once = append(r.Once, OnceResult{Key: string(p.part()), After: int(p.count()), Raw: p.part()})
	}
	if p.bad || len(p.rest) > 0 {
		return nil, fmt.Errorf("%w: it is cut short or too long", ErrRecord)
	}
	return r, nil
}

// Fill puts answers, by the keys of their questions, into the places of those that are open. What has no answer stays open.
func (r *Record) Fill(answers map[string]json.RawMessage) {
	asked := r.Asked
	for i := range r.Answers {
		if r.Answers[i].Raw == nil && len(asked) > 0 {
			r.Answers[i].Raw = answers[asked[0].Key]
			asked = asked[1:]
		}
	}
}

// Record reads the payload of a token as a record. One that does not belong to the token's own link is refused as well.
func (o Opened) Record() (*Record, error) {
	r, err := DecodeRecord(o.Payload)
	if err != nil || r.Link != o.Link {
		return nil, refusal{ReasonMalformed}
	}
	return r, nil
}

// parts reads an encoded record piece by piece. After a failure it answers nothing more.
type parts struct {
	rest []byte
	bad  bool
}

func (p *parts) take(n int) []byte {
	if p.bad || n > len(p.rest) {
		p.bad = true
		return nil
	}
	head := p.rest[:n:n]
	p.rest = p.rest[n:]
	return head
}

// count reads a length or a number; none in a record is larger than 2^31-1.
func (p *parts) count() uint64 {
	n, size := binary.Uvarint(p.rest)
	if p.bad || size <= 0 || n > math.MaxInt32 {
		p.bad = true
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// float reads a number where there is one; nil where not.
func (p *parts) float(there bool) *float64 {
	if !there {
		return nil
	}
	raw := p.take(8)
	if p.bad {
		return nil
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(raw))
	return &f
}

// part reads bytes behind their length; nil when there are none.
func (p *parts) part() []byte {
	if n := p.count(); n > 0 {
		return p.take(int(n))
	}
	return nil
}
