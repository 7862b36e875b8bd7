module github.com/rialto-mcp/rialto/interop

go 1.26
