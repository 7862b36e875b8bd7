package schema

import (
	"fmt"
	"strings"
)

const (
	dialect2020 = "https://json-schema.org/draft/2020-12/schema"
	dialect2019 = "https://json-schema.org/draft/2019-09/schema"
	dialect07   = "http://json-schema.org/draft-07/schema"
)

// DialectError tells that a schema declares a dialect this package does not know.
type DialectError struct {
	// Dialect is the value of $schema, shortened when it is long.
	Dialect string
}

func (e *DialectError) Error() string {
	return fmt.Sprintf("the schema declares the dialect %q; use 2020-12, 2019-09 or draft-07", e.Dialect)
}

// canonicalDialect answers the form of a declared dialect that the library knows.
// http and https are alike and an empty fragment is ignored; draft-06 is read as draft-07.
func canonicalDialect(declared string) (string, error) {
	name := strings.TrimSuffix(declared, "#")
	if rest, ok := strings.CutPrefix(name, "http://"); ok {
		name = rest
	} else {
		name = strings.TrimPrefix(name, "https://")
	}
	switch name {
	case "json-schema.org/draft/2020-12/schema":
		return dialect2020, nil
	case "json-schema.org/draft/2019-09/schema":
		return dialect2019, nil
	case "json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema":
		return dialect07, nil
	}
	return "", &DialectError{Dialect: excerpt(declared, 120)}
}
