package era_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// frameCheck holds frames against the published schema of a revision. Nil checks nothing.
type frameCheck struct {
	where    string // "$defs" or "definitions"
	doc      map[string]json.RawMessage
	defs     map[string]json.RawMessage
	byMethod map[string]string // method to the name of its definition

	mu       sync.Mutex
	compiled map[string]*schema.Schema
}

var checks sync.Map // revision to *frameCheck

// TestPublishedSchemas says whether the transcripts are held against the published schemas: it skips when they are not.
func TestPublishedSchemas(t *testing.T) {
	if os.Getenv("RIALTO_SCHEMAS") == "" {
		t.Skip("RIALTO_SCHEMAS is not set: frames are not held against the published schemas")
	}
	for _, revision := range mcp.Versions() {
		c := checkFor(t, revision)
		for _, method := range []string{"tools/call", "tools/list", mcp.NotifyProgress} {
			if c.byMethod[method] == "" {
				t.Errorf("the schema of %s defines no %s", revision, method)
			}
		}
		if err := c.check(c.byMethod["tools/call"], []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)); err == nil {
			t.Errorf("the schema of %s takes a call that names no tool", revision)
		}
	}
}

// checkFor reads the schema of a revision from the folder that RIALTO_SCHEMAS names.
func checkFor(t *testing.T, revision string) *frameCheck {
	dir := os.Getenv("RIALTO_SCHEMAS")
	if dir == "" {
		return nil // TestPublishedSchemas says so
	}
	if revision == mcp.Version20241007 {
		revision = mcp.Version20241105
	}
	if c, ok := checks.Load(revision); ok {
		return c.(*frameCheck)
	}
	data, err := os.ReadFile(filepath.Join(dir, revision+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &frameCheck{where: "$defs", byMethod: map[string]string{}, compiled: map[string]*schema.Schema{}}
	if err := json.Unmarshal(data, &c.doc); err != nil {
		t.Fatal(err)
	}
	if c.doc[c.where] == nil {
		c.where = "definitions"
	}
	if err := json.Unmarshal(c.doc[c.where], &c.defs); err != nil {
		t.Fatal(err)
	}
	for name, def := range c.defs {
		var shape struct {
			Properties struct {
				Method struct{ Const string }
			}
		}
		if json.Unmarshal(def, &shape) == nil && shape.Properties.Method.Const != "" && !strings.HasPrefix(name, "Client") {
			c.byMethod[shape.Properties.Method.Const] = name
		}
	}
	checks.Store(revision, c)
	return c
}

func (c *frameCheck) validate(t *testing.T, def string, value []byte) {
	t.Helper()
	if err := c.check(def, value); err != nil {
		t.Errorf("%s is no %s: %v", value, def, err)
	}
}

// check fails when the value breaks a definition, or when there is no such definition that compiles.
func (c *frameCheck) check(def string, value []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled[def] == nil {
		doc := map[string]json.RawMessage{}
		for name, v := range c.doc {
			doc[name] = v
		}
		doc["$ref"] = json.RawMessage(`"#/` + c.where + `/` + def + `"`)
		text, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		if c.compiled[def], err = schema.Compile(text, schema.Options{}); err != nil {
			return fmt.Errorf("compile %s: %w", def, err)
		}
	}
	return c.compiled[def].Validate(value)
}

// request checks a request or a notification. Methods of extensions have no definition.
func (c *frameCheck) request(t *testing.T, frame []byte, method string) {
	t.Helper()
	if c == nil {
		return
	}
	if def := c.byMethod[method]; def != "" {
		c.validate(t, def, frame)
	}
}

// answer checks the answer to a method.
func (c *frameCheck) answer(t *testing.T, frame []byte, method string) {
	t.Helper()
	if c == nil {
		return
	}
	result, ok := jsonrpc.Member(frame, "result")
	if !ok {
		c.validate(t, c.first("JSONRPCErrorResponse", "JSONRPCError"), frame)
		return
	}
	c.validate(t, c.first("JSONRPCResultResponse", "JSONRPCResponse"), frame)
	request := c.byMethod[method]
	if kind, _ := jsonrpc.Member(result, "resultType"); string(kind) == `"input_required"` {
		c.validate(t, "InputRequiredResult", result)
	} else if request != "" && string(kind) != `"task"` {
		c.validate(t, c.first(strings.TrimSuffix(request, "Request")+"Result", "EmptyResult"), result)
	}
}

// first returns the first name that the schema defines.
func (c *frameCheck) first(names ...string) string {
	for _, name := range names {
		if c.defs[name] != nil {
			return name
		}
	}
	return names[len(names)-1]
}
