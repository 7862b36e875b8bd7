package era_test

import (
	"encoding/json"
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

// checkFor reads the schema of a revision from the folder that RIALTO_SCHEMAS names.
func checkFor(t *testing.T, revision string) *frameCheck {
	dir := os.Getenv("RIALTO_SCHEMAS")
	if dir == "" {
		t.Log("RIALTO_SCHEMAS is not set: frames are not held against the published schemas")
		return nil
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
			t.Fatal(err)
		}
		compiled, err := schema.Compile(text, schema.Options{})
		if err != nil {
			t.Fatalf("compile %s: %v", def, err)
		}
		c.compiled[def] = compiled
	}
	if err := c.compiled[def].Validate(value); err != nil {
		t.Errorf("%s is no %s: %v", value, def, err)
	}
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
