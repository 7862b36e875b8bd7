package modern

import (
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Core lists the methods of the modern era. The slice is the caller's. There are no requests to a client: what a server
// wants to know it asks in an input_required result.
func Core() []era.Row { return slices.Clone(core) }

var core = []era.Row{
	{Method: mcp.MethodDiscover, ToServer: true, Cacheable: true},
	{Method: mcp.MethodListen, ToServer: true, Long: true},
	{Method: mcp.MethodComplete, ToServer: true},
	{Method: mcp.MethodGetPrompt, ToServer: true, NameParam: "name", MultiRound: true},
	{Method: mcp.MethodListPrompts, ToServer: true, Cacheable: true},
	{Method: mcp.MethodListResources, ToServer: true, Cacheable: true},
	{Method: mcp.MethodListResourceTemplates, ToServer: true, Cacheable: true},
	{Method: mcp.MethodReadResource, ToServer: true, NameParam: "uri", Cacheable: true, MultiRound: true},
	{Method: mcp.MethodCallTool, ToServer: true, NameParam: "name", MultiRound: true},
	{Method: mcp.MethodListTools, ToServer: true, Cacheable: true},

	{Method: mcp.NotifyCancelled, Notification: true, ToServer: true, ToClient: true}, // to a client only to end a listen
	{Method: mcp.NotifyProgress, Notification: true, ToClient: true},
	{Method: mcp.NotifyMessage, Notification: true, ToClient: true},
	{Method: mcp.NotifyResourceUpdated, Notification: true, ToClient: true},
	{Method: mcp.NotifyResourcesChanged, Notification: true, ToClient: true},
	{Method: mcp.NotifyToolsChanged, Notification: true, ToClient: true},
	{Method: mcp.NotifyPromptsChanged, Notification: true, ToClient: true},
	{Method: mcp.NotifySubscriptionsAcknowledged, Notification: true, ToClient: true},
}
