package interop

import (
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestGatewayApps puts servers of the official TypeScript SDKs behind the gateway whose tools have pages, all under the same
// address. A client of either era finds the page of each tool with what it may reach, and calls the tool that is for the page
// alone; the servers know that there is somebody who shows pages.
func TestGatewayApps(t *testing.T) {
	node := NodePath(t)
	file := saveConfig(t, map[string]any{
		"one": commandEntry([]string{node, nodeScript(t, "apps1.mjs"), "one"}),
		"two": commandEntry([]string{node, nodeScript(t, "apps2.mjs"), "two"}),
		"six": commandEntry([]string{node, nodeScript(t, "apps1.mjs"), "six"}),
	})
	url, told := startGateway(t, buildGateway(t), file, 3)
	if strings.Contains(told, "failed") {
		t.Fatalf("not all servers are ready:\n%s", told)
	}
	for _, mode := range []client.Mode{client.Modern, client.Legacy} {
		c := dialed(t, Target{URL: url}, client.Options{Mode: mode, Extensions: []mcp.Extension{apps.Host()}})
		var tools []mcp.Tool
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			tools = append(tools, tool)
			name := tool.Name[strings.Index(tool.Name, "_")+1:]
			meta, found, err := apps.ToolUI(tool)
			if err != nil || !found {
				t.Fatalf("%s says %s of its page: %v", tool.Name, tool.Meta, err)
			}
			view, err := apps.Read(t.Context(), c, meta.ResourceURI, apps.ReadOptions{})
			if err != nil || !strings.Contains(view.HTML, "<title>"+name+"</title>") || !slices.Equal(view.UI.CSP.ConnectDomains, []string{"https://" + name + ".example"}) {
				t.Errorf("the page of %s is %+v, %v", tool.Name, view, err)
			}
		}
		if len(tools) != 6 || len(apps.Visible(tools, apps.ForModel)) != 3 {
			t.Errorf("the tools are %v", tools)
		}
		for _, name := range []string{"one", "two", "six"} {
			called(t, c, "time_"+name, nil, "noon at "+name+", pages: true")
			called(t, c, "wind_"+name, nil, "wound "+name)
		}
	}
}
