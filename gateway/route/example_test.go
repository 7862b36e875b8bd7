package route_test

import (
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/route"
)

func ExampleBuild() {
	table, err := route.Build(route.Naming{}, []route.Upstream{
		{Name: "issues", Tools: []string{"search", "open"}, Resources: []string{"notes://today"}},
		{Name: "wiki", Tools: []string{"search"}, Resources: []string{"notes://today"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range table.Entries(route.Tool) {
		fmt.Println(e.Exposed, "->", e.Server, e.Name)
	}
	for _, note := range table.Report() {
		fmt.Println(note)
	}
	// Output:
	// issues__search -> issues search
	// open -> issues open
	// wiki__search -> wiki search
	// tool "search" of server "issues" is shown as "issues__search": another server has the same (wiki)
	// tool "search" of server "wiki" is shown as "wiki__search": another server has the same (issues)
	// resource "notes://today" of server "wiki" is shown as "rialto+wiki:notes://today": another server has the same (issues)
}

func ExampleTable_Resource() {
	table, err := route.Build(route.Naming{}, []route.Upstream{
		{Name: "files", Templates: []string{"file:///{+path}"}},
		{Name: "db", Resources: []string{"db://tables"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	match := func(template, uri string) bool { // a real one expands RFC 6570
		lead, _, _ := strings.Cut(template, "{")
		return strings.HasPrefix(uri, lead)
	}
	for _, uri := range []string{"db://tables", "file:///etc/motd", "rialto+db:db://rows/1", "http://elsewhere/"} {
		target, ok := table.Resource(uri, match)
		fmt.Println(uri, "->", target.Server, target.Name, ok)
	}
	// Output:
	// db://tables -> db db://tables true
	// file:///etc/motd -> files file:///etc/motd true
	// rialto+db:db://rows/1 -> db db://rows/1 true
	// http://elsewhere/ ->   false
}
