package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// What the page about extensions shows.

// folderOfSkills stands for a folder on disk.
var folderOfSkills = fstest.MapFS{
	"tea/SKILL.md":       {Data: []byte("---\nname: tea\ndescription: Makes tea\n---\nSee kinds.md.\n")},
	"tea/kinds.md":       {Data: []byte("- green: 2 minutes\n")},
	"coffee/SKILL.md":    {Data: []byte("---\nname: coffee\ndescription: Makes coffee\n---\n")},
	"coffee/.git/config": {Data: []byte("hidden files stay at home")},
}

// A folder of skills, served.
func Example_skills() {
	folder := folderOfSkills
	// [skills]
	set, err := skills.Load(folder, skills.Options{Prefix: "kitchen"})
	if err != nil {
		panic(err) // names every skill with a fault, and what to do about it
	}
	s := server.New(mcp.Implementation{Name: "kitchen", Version: "1.0.0"}, server.Options{
		Extensions: []mcp.Extension{skills.Extension()},
	})
	service := skills.Serve(s, set)
	// [end]
	c, done := connect(s, client.Options{})
	defer done()
	answer, err := c.Raw(context.Background(), skills.MethodList, nil, client.RawOptions{})
	if err != nil {
		panic(err)
	}
	var list skills.ListResult
	if err := json.Unmarshal(answer.Result, &list); err != nil {
		panic(err)
	}
	for _, skill := range list.Skills {
		fmt.Println(skill.URI, "-", skill.Description(), "-", len(skill.Files), "files")
	}
	fmt.Println(len(service.Set().Skills()), "skills are served")

	// Output:
	// skill://kitchen/coffee/SKILL.md - Makes coffee - 1 files
	// skill://kitchen/tea/SKILL.md - Makes tea - 2 files
	// 2 skills are served
}

const weatherPage = "<!doctype html><title>Weather</title><div id=map></div>"

// A page for a tool, and how a host finds it.
func Example_apps() {
	// [page]
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0"}, server.Options{})
	apps.AddResource(s, apps.Resource{
		URI: "ui://weather/map", Name: "Map", HTML: weatherPage,
		UI: apps.ResourceMeta{CSP: &apps.CSP{ConnectDomains: []string{"https://tiles.example.com"}}},
	})
	forecast := apps.Link(mcp.Tool{Name: "forecast"}, apps.ToolMeta{ResourceURI: "ui://weather/map"})
	server.AddTool(s, forecast, func(context.Context, *server.Request, struct{}) (string, error) {
		return "Sun in the north", nil // in words too: not every client shows the page
	})
	// [end]
	ctx := context.Background()
	// [host]
	c, done := connect(s, client.Options{Extensions: []mcp.Extension{apps.Host()}})
	defer done()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			panic(err)
		}
		meta, found, err := apps.ToolUI(tool)
		if err != nil || !found || meta.ResourceURI == "" {
			continue // shown in words
		}
		view, err := apps.Read(ctx, c, meta.ResourceURI, apps.ReadOptions{})
		if err != nil {
			panic(err)
		}
		policy, err := view.UI.CSP.Policy()
		if err != nil {
			panic(err)
		}
		fmt.Println(tool.Name, len(view.HTML), policy)
	}
	// [end]

	// Output:
	// forecast 55 default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self' https://tiles.example.com; img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'
}
