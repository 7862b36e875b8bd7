package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// arguments brings what a model has written into what the server takes, and checks it against the server's schema. What
// is wrong is said to the model.
func (b *bound) arguments(raw json.RawMessage) (args json.RawMessage, wrong string) {
	args, wrong = b.restore(raw)
	if wrong != "" {
		return nil, wrong
	}
	check := b.check()
	if check == nil {
		return args, "" // the server will check it
	}
	err := check.Validate(args)
	var verdict *schema.ValidationError
	switch {
	case errors.As(err, &verdict):
		return nil, "The arguments do not fit the tool: " + cut(verdict.Error(), 2000)
	case err != nil:
		return nil, fmt.Sprintf("The arguments cannot be checked: %v", err)
	}
	return args, ""
}

// restore reads arguments and gives them the server's own names.
func (b *bound) restore(raw json.RawMessage) (args json.RawMessage, wrong string) {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		text = "{}"
	}
	if value := jsontext.Value(text); !value.IsValid() {
		return nil, "The arguments are no valid JSON: " + why(text) + ". Write one JSON object."
	}
	if !jsonrpc.IsObject([]byte(text)) {
		return nil, "The arguments must be one JSON object."
	}
	args, err := b.form.Restore(json.RawMessage(text))
	if err != nil {
		return nil, fmt.Sprintf("The arguments cannot be used: %v", err)
	}
	return args, ""
}

// Restore gives arguments of a model the names and values of the server's own schema, without running anything and without
// checking them further.
func (s *Set) Restore(call Call) (json.RawMessage, error) {
	b, ok := s.lookup(call.Name)
	if !ok {
		return nil, fmt.Errorf("there is no tool %.80q", call.Name)
	}
	args, wrong := b.restore(call.Args)
	if wrong != "" {
		return nil, fmt.Errorf("tool %q: %s", call.Name, wrong)
	}
	return args, nil
}

// why says what is wrong with JSON, without what stands in it.
func why(text string) string {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := dec.ReadToken(); err != nil {
			var syntax *jsontext.SyntacticError
			if errors.As(err, &syntax) && syntax.Err != nil {
				return fmt.Sprintf("%s at byte %d", cut(syntax.Err.Error(), 100), syntax.ByteOffset)
			}
			return "it ends too early"
		}
	}
}
