// Package skills serves Agent Skills over the Model Context Protocol: the extension io.modelcontextprotocol/skills.
//
// A skill is a folder with a SKILL.md, whose YAML front matter names and describes it, and whatever files belong to it. Each
// file is a resource under skill://, and three methods tell which skills there are, of which files with which digests they
// consist, and what stands in a folder.
//
//	set, err := skills.Load(root.FS(), skills.Options{})        // a folder of skills
//	s := server.New(info, server.Options{Extensions: []mcp.Extension{skills.Extension()}})
//	service := skills.Serve(s, set)
//
// The methods exist on the modern era. Clients of the legacy era, and those that do not know the extension, see the files
// as ordinary resources.
//
//	skill.go        Skill, File: an entry, and how it is checked
//	wire.go         parameters, results and settings
//	source.go       Load, New: from folders and Go values to a Set
//	build.go        one skill: front matter, digests, limits
//	uri.go          paths and URIs
//	serve.go        Serve: resources and methods on a server
//	page.go         lists in pages
//	client.go       Client, Opened: the side that reads skills and checks them
//
// What is served was read when the Set was built, so a digest is always that of the bytes a client gets, and a URI can name
// nothing but a file of the set. Digests protect against files that change, not against a server: it makes both.
package skills
