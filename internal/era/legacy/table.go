package legacy

import (
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Revisions with a method that came later than the first one.
const (
	sinceForms = mcp.Version20250618
	sinceTasks = mcp.Version20251125
)

// Core lists the methods of all legacy revisions. The slice is the caller's.
func Core() []era.Row {
	rows := slices.Concat(clientRequests, serverRequests, bothRequests)
	for _, row := range slices.Concat(clientNotices, serverNotices, bothNotices) {
		row.Notification = true
		rows = append(rows, row)
	}
	for i := range rows {
		method := rows[i].Method
		rows[i].ToServer = !contains(serverRequests, method) && !contains(serverNotices, method)
		rows[i].ToClient = !contains(clientRequests, method) && !contains(clientNotices, method)
	}
	return rows
}

func contains(rows []era.Row, method string) bool {
	return slices.ContainsFunc(rows, func(r era.Row) bool { return r.Method == method })
}

var clientRequests = []era.Row{
	{Method: mcp.MethodInitialize},
	{Method: mcp.MethodComplete},
	{Method: mcp.MethodSetLevel},
	{Method: mcp.MethodGetPrompt, NameParam: "name", MultiRound: true},
	{Method: mcp.MethodListPrompts, Cacheable: true},
	{Method: mcp.MethodListResources, Cacheable: true},
	{Method: mcp.MethodListResourceTemplates, Cacheable: true},
	{Method: mcp.MethodReadResource, NameParam: "uri", Cacheable: true, MultiRound: true},
	{Method: mcp.MethodSubscribeResource},
	{Method: mcp.MethodUnsubscribeResource},
	{Method: mcp.MethodCallTool, NameParam: "name", MultiRound: true},
	{Method: mcp.MethodListTools, Cacheable: true},
}

var serverRequests = []era.Row{
	{Method: mcp.MethodCreateMessage},
	{Method: mcp.MethodElicit, Since: sinceForms},
	{Method: mcp.MethodListRoots},
}

var bothRequests = []era.Row{
	{Method: mcp.MethodPing},
	{Method: mcp.MethodGetTask, Since: sinceTasks},
	{Method: mcp.MethodTaskResult, Since: sinceTasks},
	{Method: mcp.MethodListTasks, Since: sinceTasks},
	{Method: mcp.MethodCancelTask, Since: sinceTasks},
}

var clientNotices = []era.Row{
	{Method: mcp.NotifyInitialized},
	{Method: mcp.NotifyRootsChanged},
}

var serverNotices = []era.Row{
	{Method: mcp.NotifyMessage},
	{Method: mcp.NotifyResourceUpdated},
	{Method: mcp.NotifyResourcesChanged},
	{Method: mcp.NotifyToolsChanged},
	{Method: mcp.NotifyPromptsChanged},
	{Method: mcp.NotifyElicitationComplete, Since: sinceTasks},
}

var bothNotices = []era.Row{
	{Method: mcp.NotifyCancelled},
	{Method: mcp.NotifyProgress},
	{Method: mcp.NotifyTaskStatus, Since: sinceTasks},
}

// rowsOf keeps the rows a revision has. 2024-10-07 has no schema of its own and is served as 2024-11-05.
func rowsOf(revision string) []era.Row {
	return slices.DeleteFunc(Core(), func(r era.Row) bool {
		return r.Since != "" && revision < r.Since || r.Until != "" && revision > r.Until
	})
}

// newTable builds the table of a revision. Extensions keep their methods here as far as they do not touch those of the
// specification: the specification's own extensions were made for the modern era and have no effect on this one.
func newTable(revision string, extensions []mcp.Extension, universe map[string]bool) *era.Table {
	closed := make(map[string]bool, len(universe))
	for method := range universe {
		closed[method] = true
	}
	var open []mcp.Extension
	for _, x := range extensions {
		if !mcp.IsReservedMetaKey(x.Identifier) {
			open = append(open, x)
			continue
		}
		for _, method := range slices.Concat(x.Requests, x.Notifications) {
			closed[method] = true
		}
	}
	return era.NewTable(rowsOf(revision), open, closed)
}
