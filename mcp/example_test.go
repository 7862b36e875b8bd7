package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
)

func print(v any) {
	out, err := json.Marshal(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(out))
}

func ExampleCallToolResult() {
	print(mcp.CallToolResult{
		Content:           []mcp.Content{mcp.Text("21 degrees"), mcp.Image("image/png", []byte{1, 2, 3})},
		StructuredContent: json.RawMessage(`{"celsius":21}`),
	})
	print(mcp.ErrorResult("no such city"))
	// Output:
	// {"content":[{"type":"text","text":"21 degrees"},{"type":"image","data":"AQID","mimeType":"image/png"}],"structuredContent":{"celsius":21}}
	// {"content":[{"type":"text","text":"no such city"}],"isError":true}
}

func ExampleContent() {
	var result mcp.CallToolResult
	wire := `{"content":[{"type":"text","text":"hello"},{"type":"hologram","depth":3}]}`
	if err := json.Unmarshal([]byte(wire), &result); err != nil {
		fmt.Println(err)
	}
	for _, block := range result.Content {
		switch block := block.(type) {
		case *mcp.TextContent:
			fmt.Println("text:", block.Text)
		case *mcp.UnknownContent:
			fmt.Println(block.Type, "kept:", string(block.Raw))
		}
	}
	// Output:
	// text: hello
	// hologram kept: {"type":"hologram","depth":3}
}

func ExampleTool() {
	readOnly := true
	print(mcp.Tool{
		Name:        "forecast",
		Description: "Weather for the next days",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &readOnly},
	})
	// Output: {"name":"forecast","description":"Weather for the next days","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}},"annotations":{"readOnlyHint":true}}
}

func ExampleMember() {
	var tool mcp.Tool
	if err := json.Unmarshal([]byte(`{"name":"a","inputSchema":{},"vendor":{"x":1}}`), &tool); err != nil {
		fmt.Println(err)
	}
	vendor, ok := mcp.Member(tool.Extra, "vendor")
	fmt.Println(string(vendor), ok)
	print(tool)
	// Output:
	// {"x":1} true
	// {"name":"a","inputSchema":{},"vendor":{"x":1}}
}

func ExampleMeta() {
	meta, err := mcp.NewMeta(mcp.MetaTraceParent, "00-0af7-b7ad-01")
	if err != nil {
		fmt.Println(err)
	}
	meta = meta.Set("com.example/run", json.RawMessage(`1`))
	run, _ := meta.Get("com.example/run")
	fmt.Println(string(run))
	print(mcp.ListParams{Meta: meta.Without("com.example/run")})
	// Output:
	// 1
	// {"_meta":{"traceparent":"00-0af7-b7ad-01"}}
}

func ExampleInputRequired() {
	handler := func(answers mcp.InputResponses) error {
		city, err := answers.Elicit("city")
		if err != nil {
			return err
		}
		if city == nil {
			schema, err := json.Marshal(mcp.FormSchema{Fields: []mcp.FormField{{Name: "city", Type: "string", Required: true}}})
			if err != nil {
				return err
			}
			return mcp.NeedInput().Elicit("city", mcp.ElicitFormParams{Message: "Which city?", RequestedSchema: schema})
		}
		fmt.Println("answered:", string(city.Content))
		return nil
	}
	var need *mcp.InputRequired
	if errors.As(handler(nil), &need) {
		print(need)
	}
	if err := handler(mcp.InputResponses{"city": json.RawMessage(`{"action":"accept","content":{"city":"Oslo"}}`)}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"inputRequests":{"city":{"method":"elicitation/create","params":{"message":"Which city?","requestedSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}}}
	// answered: {"city":"Oslo"}
}

func ExampleFormSchema() {
	least := int64(1)
	print(mcp.FormSchema{Fields: []mcp.FormField{
		{Name: "size", Type: "string", Title: "Size", Choices: []mcp.FormChoice{{Value: "s", Title: "Small"}, {Value: "l"}}},
		{Name: "extras", Type: "array", MinItems: &least, Choices: []mcp.FormChoice{{Value: "milk"}, {Value: "sugar"}}},
		{Name: "gift", Type: "boolean", Default: json.RawMessage(`false`)},
	}})
	// Output: {"type":"object","properties":{"size":{"type":"string","title":"Size","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"l"}]},"extras":{"type":"array","minItems":1,"items":{"type":"string","enum":["milk","sugar"]}},"gift":{"type":"boolean","default":false}}}
}

func ExampleError() {
	err := fmt.Errorf("read: %w", mcp.ResourceNotFound("book:0"))
	fmt.Println(errors.Is(err, mcp.CodeResourceNotFound), err)
	var protocol *mcp.Error
	if errors.As(err, &protocol) {
		uri, _ := protocol.ResourceData()
		fmt.Println(uri)
	}
	// Output:
	// true read: resource not found: book:0
	// book:0
}

func ExampleProgressParams() {
	print(mcp.ProgressParams{ProgressToken: mcp.StringToken("a"), Progress: 0})
	// Output: {"progressToken":"a","progress":0}
}

func ExampleExtension() {
	tasks := mcp.Extension{
		Identifier: "com.example/jobs",
		Requests:   []string{"jobs/get"},
		NameParam:  map[string]string{"jobs/get": "jobId"},
	}
	fmt.Println(tasks.Check(), string(tasks.SettingsJSON()))
	// Output: <nil> {}
}
