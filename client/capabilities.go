package client

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// declared is what a client can do: what its options say, and what their handlers stand for.
func (o *Options) declared() mcp.ClientCapabilities {
	c := o.Capabilities
	if o.CreateMessage != nil {
		c.Sampling = copied(c.Sampling)
		present(&c.Sampling.Tools, o.SamplingTools)
		present(&c.Sampling.Context, o.SamplingContext)
	}
	if o.Elicit != nil || o.ElicitURL != nil {
		form := c.Elicitation.AcceptsForm() // naming one mode ends what naming none has meant
		c.Elicitation = copied(c.Elicitation)
		present(&c.Elicitation.Form, form || o.Elicit != nil)
		present(&c.Elicitation.URL, o.ElicitURL != nil)
	}
	if o.Roots != nil {
		c.Roots = copied(c.Roots)
		c.Roots.ListChanged = true
	}
	return c
}

// copied returns a copy to be changed, of nothing where there is none.
func copied[T any](v *T) *T {
	fresh := new(T)
	if v != nil {
		*fresh = *v
	}
	return fresh
}

func present(c **mcp.Capability, yes bool) {
	if yes && *c == nil {
		*c = &mcp.Capability{}
	}
}

// traits answers what the server's revision may do.
func (c *Client) traits() *era.Traits {
	if codec := c.now().codec; codec != nil {
		return codec.Traits()
	}
	return &era.Traits{} // a server that asks before the handshake is over
}

// lacks names the capability that a method needs and the server does not declare; "" for none.
func lacks(c *mcp.ServerCapabilities, method string) string {
	name, has := "", true
	switch method {
	case mcp.MethodListTools, mcp.MethodCallTool:
		name, has = "tools", c.Tools != nil
	case mcp.MethodListPrompts, mcp.MethodGetPrompt:
		name, has = "prompts", c.Prompts != nil
	case mcp.MethodListResources, mcp.MethodListResourceTemplates, mcp.MethodReadResource:
		name, has = "resources", c.Resources != nil
	case mcp.MethodSubscribeResource, mcp.MethodUnsubscribeResource:
		name, has = "resources.subscribe", c.Resources != nil && c.Resources.Subscribe
	case mcp.MethodComplete:
		name, has = "completions", c.Completions != nil
	case mcp.MethodSetLevel:
		name, has = "logging", c.Logging != nil
	}
	if has {
		return ""
	}
	return name
}
