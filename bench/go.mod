module github.com/rialto-mcp/rialto/bench

go 1.26
