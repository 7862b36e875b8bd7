// Package apps is MCP Apps, the extension io.modelcontextprotocol/ui: tools whose results a host shows in a page of HTML
// that the server brings along.
//
// A server adds the page as a resource under ui:// and links tools to it:
//
//	apps.AddResource(s, apps.Resource{URI: "ui://weather/view", Name: "Weather", HTML: page})
//	server.AddTool(s, apps.Link(mcp.Tool{Name: "forecast"}, apps.ToolMeta{ResourceURI: "ui://weather/view"}), forecast)
//
// A host declares the extension, asks which page a tool has, and reads it with its type, size and addresses checked:
//
//	c, err := client.DialHTTP(ctx, url, client.Options{Extensions: []mcp.Extension{apps.Host()}})
//	meta, ok, err := apps.ToolUI(tool)
//	view, err := apps.Read(ctx, c, meta.ResourceURI, apps.ReadOptions{})
//
// Showing the page in a sandbox, and the messages between the two, are the host's. What the extension needs on the wire are
// resources and `_meta`, so it works the same in both eras; a legacy client declares it in its handshake as a modern one does
// in each request.
//
//	capability.go   Host, Extension, Supported: who can do it
//	tool.go         ToolMeta, Link, ToolUI: what a tool says
//	resource.go     Resource, AddResource, ResourceMeta: pages
//	policy.go       what a page may reach: security policy and permissions
//	read.go         Read: a page as a host gets it
package apps
