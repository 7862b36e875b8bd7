module github.com/rialto-mcp/rialto

go 1.26
