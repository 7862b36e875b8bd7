module github.com/rialto-mcp/rialto/gateway

go 1.26
