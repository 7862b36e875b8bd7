package streamhttp_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

func ExampleGuard() {
	guard := streamhttp.NewGuard([]string{"mcp.example"}, []string{"https://app.example"})
	for _, origin := range []string{"https://mcp.example", "https://app.example", "https://evil.example"} {
		r := httptest.NewRequest("POST", "http://mcp.example/mcp", nil)
		r.Header.Set("Origin", origin)
		fmt.Println(guard.Check(r))
	}
	// Output:
	// <nil>
	// <nil>
	// the Origin "https://evil.example" may not call this server; list it in the option AllowedOrigins to let it
}
