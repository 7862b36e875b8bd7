package jsonrpc_test

import (
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// ExampleAnswers: two elements of three get an answer, the second one first.
func ExampleAnswers() {
	answers := jsonrpc.NewAnswers(3)
	answers.End([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`))
	answers.End(nil)
	array, last := answers.End([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	fmt.Println(string(array), last)
	// Output: [{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}] true
}

func TestAnswersWithout(t *testing.T) {
	answers := jsonrpc.NewAnswers(2)
	for _, want := range []bool{false, true} {
		if array, last := answers.End(nil); array != nil || last != want {
			t.Errorf("%s, %v; want no array, %v", array, last, want)
		}
	}
}
