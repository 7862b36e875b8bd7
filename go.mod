module github.com/rialto-mcp/rialto

go 1.26

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/yosida95/uritemplate/v3 v3.0.2
	golang.org/x/text v0.14.0 // indirect
)
