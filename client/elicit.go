package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ElicitRequest asks the user to fill in a form. The server's schema has been checked: it is flat, and uses only what forms
// may use.
type ElicitRequest struct {
	mcp.ElicitFormParams

	// Fields is RequestedSchema taken apart, in the order to show.
	Fields []mcp.FormField

	Origin Origin

	form     *schema.Form
	defaults bool // are added
}

// Check says whether the form takes a value as content, given as to [Accept], so that a handler can ask once more. The
// defaults of the form are added first, unless Options.NoElicitDefaults is set; nothing else is changed. The error is for
// the user: it names the member and the rule.
func (r *ElicitRequest) Check(content any) error {
	raw, err := formContent(content)
	if err == nil {
		_, err = fill(r.form, raw, r.defaults)
	}
	return err
}

// Defaults returns the content that the form has before the user touches it: an object of all defaults.
func (r *ElicitRequest) Defaults() json.RawMessage {
	filled, err := r.form.ApplyDefaults(nil)
	if err != nil {
		return json.RawMessage("{}") // an empty content is always an object
	}
	return filled
}

// Accept makes the answer of a user who agrees. content is the filled form, anything whose JSON form is an object; nil is
// an empty one, and right for a page to visit.
func Accept(content any) (*mcp.ElicitResult, error) {
	raw, err := formContent(content)
	if err != nil {
		return nil, err
	}
	return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: raw}, nil
}

// Decline makes the answer of a user who says no.
func Decline() (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
}

// Cancel makes the answer of a user who goes away without a choice.
func Cancel() (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
}

func formContent(content any) (json.RawMessage, error) {
	if content == nil {
		return nil, nil
	}
	raw, err := encode(content)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the content of the form: %w", err)
	case !jsonrpc.IsObject(raw):
		return nil, fmt.Errorf("the content of the form must be a JSON object, got %.60s", raw)
	}
	return raw, nil
}

// elicitForm shows a form. What the handler accepts is checked against the form before it is sent.
func (c *Client) elicitForm(ctx context.Context, params json.RawMessage, from Origin) (json.RawMessage, error) {
	req := &ElicitRequest{Origin: from, defaults: !c.opts.NoElicitDefaults}
	if err := readQuestion(mcp.MethodElicit, params, &req.ElicitFormParams); err != nil {
		return nil, err
	}
	if req.Mode != "" && req.Mode != mcp.ElicitModeForm {
		return nil, mcp.InvalidParams("there is no elicitation mode %.40q", req.Mode)
	}
	var err error
	if req.form, err = schema.ParseForm(req.RequestedSchema); err != nil {
		return nil, mcp.InvalidParams("requestedSchema: %w", err)
	}
	form, err := mcp.ParseForm(req.RequestedSchema)
	if err != nil {
		return nil, mcp.InvalidParams("requestedSchema: %w", err)
	}
	req.Fields = form.Fields
	result, err := c.opts.Elicit(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.formAnswer(req, result)
}

// formAnswer is what the server gets of a handler's result: content only where the user has accepted, filled up with
// defaults, and as the form wants it.
func (c *Client) formAnswer(req *ElicitRequest, result *mcp.ElicitResult) (json.RawMessage, error) {
	if err := checkAction(result); err != nil {
		return nil, err
	}
	answer := *result
	if !answer.Accepted() {
		answer.Content = nil
		return encode(answer)
	}
	content, err := fill(req.form, answer.Content, req.defaults)
	if err != nil {
		return nil, badAnswer(mcp.MethodElicit, "the content that Elicit returned does not fit the form: %w", err)
	}
	answer.Content = content
	return encode(answer)
}

// checkAction refuses a result that is none.
func checkAction(result *mcp.ElicitResult) error {
	if result == nil {
		return badAnswer(mcp.MethodElicit, "the handler returned neither a result nor an error")
	}
	switch result.Action {
	case mcp.ElicitAccept, mcp.ElicitDecline, mcp.ElicitCancel:
		return nil
	}
	return badAnswer(mcp.MethodElicit, "the handler returned the action %.40q; it is accept, decline or cancel", result.Action)
}

// fill adds the defaults to the content of a form, if wanted, and checks it.
func fill(form *schema.Form, content json.RawMessage, defaults bool) (json.RawMessage, error) {
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	if defaults {
		var err error
		if content, err = form.ApplyDefaults(content); err != nil {
			return nil, err
		}
	}
	return content, form.Validate(content)
}
