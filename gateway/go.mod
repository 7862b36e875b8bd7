module github.com/rialto-mcp/rialto/gateway

go 1.26

require (
	github.com/alecthomas/kong v1.17.0
	github.com/yosida95/uritemplate/v3 v3.0.2
	golang.org/x/term v0.46.0
)
