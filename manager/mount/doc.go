// Package mount builds a server's options and its HTTP handler from the section "server" of a configuration file, so that an
// application that has a file of servers mounts itself from the same file:
//
//	{
//	  "server": {
//	    "name": "desk", "version": "1.2.0", "instructions": "Ask for open tickets first.",
//	    "path": "/mcp", "transports": ["http", "sse"], "origins": ["https://desk.example"],
//	    "limits": {"maxBodyBytes": 1048576, "idleTimeout": "10m"}
//	  },
//	  "mcpServers": {...}
//	}
//
// Everything has a default but the name. A key that is not known is an error, with its line.
package mount
