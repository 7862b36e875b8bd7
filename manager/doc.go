// Package manager keeps many MCP servers at once: it reads the files in which hosts keep them, connects to all of them, and
// lists and calls across them.
//
//	f, err := manager.ReadFile("mcp.json", manager.ReadOptions{Lookup: os.LookupEnv})
//	m, err := manager.Open(f.Servers, manager.Options{})
//	defer m.Close()
//	list, err := m.ListTools(ctx)
//	result, err := m.Call(ctx, manager.Name{Server: "files", Name: "read"}, args)
//
// [Manager] is all of that. Each server has a state and a reason ([Status]), and is nobody's trouble but its own. It is made
// of parts that can be used alone: [Keeper] keeps one server connected, [Breaker] refuses calls of a server that does not
// answer, [Dial] connects to an entry of a file, [Reason] says in words without secrets why it failed.
//
// # Files
//
// Hosts agree on the shape of one server and differ in what stands around it, so [Read] accepts all of these:
//
//	{"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server"]}}}   Claude Desktop, Claude Code, Cursor, ...
//	{"servers": {"files": {"type": "stdio", "command": "npx"}}, "inputs": [...]}     VS Code
//	{"files": {"command": "npx"}, "web": {"url": "https://example.com/mcp"}}         a file whose root is the map
//
// Files are JSON in UTF-8; comments and trailing commas are allowed, a key that stands twice is not. Keys nobody
// knows stay in [Server.Raw] and [File.Source], so that a program that rewrites a file loses nothing.
//
// # Variables
//
// The texts of command, args, env, envFile, cwd, url, headers and oauth may hold ${VAR}, ${VAR:-default} and ${env:VAR}
// (with a default too), ${input:id}, and what VS Code and Cursor know by themselves: ${workspaceFolder},
// ${workspaceFolderBasename}, ${userHome}, ${pathSeparator} and ${/}. Values come from [ReadOptions.Lookup],
// [ReadOptions.Input], [ReadOptions.Ask] and [ReadOptions.Workspace]; this package reads no environment. A default counts when
// the variable is unset or empty, and may hold variables itself, up to eight deep. A value is put in as it is and not expanded
// again. References such as ${vault:dev/db#password} are what stores of the caller's give, those of [ReadOptions.Secrets]; they
// may hold variables and have no default. $${ stands for a literal ${. A disabled entry is not expanded.
//
// # Errors
//
// What is wrong with a file comes back as one [*ConfigErrors]; each [ConfigError] says file, line, column, key, what
// is wrong and what to do. Good entries come back beside the errors. The text of an error never holds a value of the
// file, only keys, positions and names of variables.
package manager
