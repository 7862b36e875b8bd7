package client

import "github.com/rialto-mcp/rialto/mcp"

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
