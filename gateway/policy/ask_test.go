package policy

import (
	"encoding/json"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

// TestQuestions holds what one question becomes.
func TestQuestions(t *testing.T) {
	const (
		form  = `{"message":"W\u0068o?","requestedSchema":{}}`
		page  = `{"mode":"url","message":"Go","url":"https://Pay.Example.com:8443/x?y"}`
		model = `{"messages":[],"maxTokens":1e3,"includeContext":"allServers"}`
		tools = `{"messages":[],"maxTokens":10,"tools":[]}`
	)
	for _, tc := range []struct {
		name   string
		may    Asking
		method string
		in     string
		want   string // "" means a refusal
	}{
		{"all is left as it is", Asking{}, mcp.MethodElicit, form, form},
		{"with a name", Asking{Named: true}, mcp.MethodElicit, form, `{"message":"[a] Who?","requestedSchema":{}}`},
		{"no forms", Asking{NoForms: true}, mcp.MethodElicit, form, ""},
		{"no forms, a page", Asking{NoForms: true}, mcp.MethodElicit, page, page},
		{"no pages", Asking{NoPages: true}, mcp.MethodElicit, page, ""},
		{"a host", Asking{Hosts: []string{"pay.example.com"}}, mcp.MethodElicit, page, page},
		{"a host below", Asking{Hosts: []string{"*.example.com"}}, mcp.MethodElicit, page, page},
		{"not the host above", Asking{Hosts: []string{"*.pay.example.com"}}, mcp.MethodElicit, page, ""},
		{"another host", Asking{Hosts: []string{"example.com"}}, mcp.MethodElicit, page, ""},
		{"not encrypted", Asking{Hosts: []string{"h"}}, mcp.MethodElicit, `{"mode":"url","url":"http://h/"}`, ""},
		{"this machine", Asking{Hosts: []string{"localhost"}}, mcp.MethodElicit, `{"mode":"url","url":"http://localhost:1/"}`, `{"mode":"url","url":"http://localhost:1/"}`},
		{"a host as a user", Asking{Hosts: []string{"h"}}, mcp.MethodElicit, `{"mode":"url","url":"https://h@evil/"}`, ""},
		{"a user at a host", Asking{Hosts: []string{"h"}}, mcp.MethodElicit, `{"mode":"url","url":"https://h:evil@h/"}`, ""},
		{"another scheme", Asking{Hosts: []string{"h"}}, mcp.MethodElicit, `{"mode":"url","url":"javascript://h/%0aalert(1)"}`, ""},
		{"no address", Asking{Hosts: []string{"h"}}, mcp.MethodElicit, `{"mode":"url"}`, ""},
		{"a model", Asking{}, mcp.MethodCreateMessage, model, model},
		{"no model", Asking{NoSampling: true}, mcp.MethodCreateMessage, model, ""},
		{"no tools", Asking{NoTools: true}, mcp.MethodCreateMessage, tools, ""},
		{"no tools, and none", Asking{NoTools: true}, mcp.MethodCreateMessage, model, model},
		{"fewer tokens", Asking{MaxTokens: 999}, mcp.MethodCreateMessage, model, `{"messages":[],"maxTokens":999,"includeContext":"allServers"}`},
		{"as many tokens", Asking{MaxTokens: 1000}, mcp.MethodCreateMessage, model, model},
		{"no number of tokens", Asking{MaxTokens: 1}, mcp.MethodCreateMessage, `{}`, `{"maxTokens":1}`},
		{"no context", Asking{NoContext: true}, mcp.MethodCreateMessage, model, `{"messages":[],"maxTokens":1e3,"includeContext":"none"}`},
		{"roots", Asking{}, mcp.MethodListRoots, `{}`, `{}`},
		{"no roots", Asking{NoRoots: true}, mcp.MethodListRoots, `{}`, ""},
	} {
		got, refusal := tc.may.question("a", tc.method, json.RawMessage(tc.in))
		if (refusal != nil) != (tc.want == "") || string(got) != tc.want {
			t.Errorf("%s: got %s, %v", tc.name, got, refusal)
		}
	}
}

// TestCapabilitiesOfQuestions holds what a server is told of a client that can do everything.
func TestCapabilitiesOfQuestions(t *testing.T) {
	const all = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{"x":1.0}}`
	for _, tc := range []struct {
		may      Asking
		in, want string
	}{
		{Asking{}, all, all},
		{Asking{NoForms: true}, all, `{"sampling":{"tools":{},"context":{}},"roots":{"x":1.0},"elicitation":{"url":{}}}`},
		{Asking{NoPages: true}, `{"elicitation":{"form":{},"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{Asking{NoPages: true}, `{"elicitation":{"url":{}}}`, `{}`},
		{Asking{NoPages: true}, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		{Asking{NoForms: true}, `{"elicitation":{}}`, `{}`},
		{Asking{NoForms: true, NoPages: true, NoSampling: true, NoRoots: true}, all, `{}`},
		{Asking{NoTools: true, NoContext: true}, `{"sampling":{"tools":{},"context":{}}}`, `{"sampling":{}}`},
	} {
		if got := string(tc.may.capabilities(json.RawMessage(tc.in))); got != tc.want {
			t.Errorf("%+v: got %s, want %s", tc.may, got, tc.want)
		}
	}
}
