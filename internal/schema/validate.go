package schema

import (
	"encoding/json"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate checks one JSON value. Nil means it fits; else the error is a [*ValidationError].
//
// Within the plan's subset a fitting value costs no allocation. A value that is not strict JSON (duplicate names,
// invalid UTF-8, something behind it) does not fit (rule "json"); neither does one beyond the limits of a check (rule
// "limit"). raw is only read.
func (s *Schema) Validate(raw json.RawMessage) error {
	if s.plan != nil && s.plan.fits(raw) {
		return nil
	}
	return s.validateFully(raw)
}

func (s *Schema) validateFully(raw []byte) (err error) {
	value, err := parse(raw)
	switch {
	case errors.Is(err, errTooDeep), errors.Is(err, errBigNumber):
		return violation("", "limit", err.Error())
	case err != nil:
		return violation("", "json", "is not valid JSON")
	case s.branchy && tooMuchWork(s.library, value):
		return violation("", "limit", "a check against this schema would take too long")
	}
	// The library meets a stranger's schema and a stranger's value here; a fault in it must not end the process.
	defer func() {
		if p := recover(); p != nil {
			err = violation("", "schema", "cannot be checked against the schema")
		}
	}()
	err = s.library.Validate(value)
	if verdict, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return explain(verdict)
	}
	return err
}
