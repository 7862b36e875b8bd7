package compose_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/compose"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// greeter has one tool, which asks for a name.
func greeter(versions []string) *server.Server {
	s := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "greet"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		who, err := server.ElicitAs[struct{ Name string }](ctx, req, "Who is it?")
		return "Hello, " + who.Name, err
	})
	return s
}

// TestComposition holds that servers of the program and servers elsewhere are one server, for clients and servers of every era,
// with what they ask and what they announce, and that all ends with Close.
func TestComposition(t *testing.T) {
	for _, modern := range []bool{false, true} {
		for _, mode := range []client.Mode{client.Legacy, client.Modern} {
			versions := mcp.LegacyVersions()
			if modern {
				versions = mcp.ModernVersions()
			}
			inside, outside := greeter(versions), greeter(versions)
			ts := httptest.NewServer(outside.Handler())
			all, err := compose.New(mcp.Implementation{Name: "all", Version: "1"}, compose.Options{},
				compose.Local("here", inside), compose.Remote(manager.Server{Name: "there", Transport: manager.HTTP, URL: ts.URL}))
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(all.Server().Handler())
			c, err := client.DialHTTP(t.Context(), front.URL, client.Options{Mode: mode, Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
				return client.Accept(map[string]string{"Name": "Ada"})
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"here__greet", "there__greet"} {
				if got, err := c.CallTool(t.Context(), name, nil); err != nil || got.Text() != "Hello, Ada" {
					t.Errorf("modern servers %t: %s answers %+v, %v", modern, name, got, err)
				}
			}
			heard := make(chan struct{}, 10)
			c.OnToolsChange(func() { heard <- struct{}{} })
			server.AddTool(inside, mcp.Tool{Name: "more"}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
			<-heard
			if snaps := all.Snapshots(); len(snaps) != 2 || snaps[0].Name != "here" || snaps[0].State != manager.Ready {
				t.Errorf("the parts are %+v", snaps)
			}
			_ = c.Close() // as all that follows
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			if err := errors.Join(all.Close(ctx), all.Close(ctx), inside.Shutdown(ctx), outside.Shutdown(ctx)); err != nil {
				t.Error(err)
			}
			cancel()
			front.Close()
			ts.Close()
		}
	}
}

// TestCompositionOfTwins refuses two parts of one name.
func TestCompositionOfTwins(t *testing.T) {
	_, err := compose.New(mcp.Implementation{Name: "all", Version: "1"}, compose.Options{}, compose.Local("a", greeter(nil)), compose.Local("a", greeter(nil)))
	if err == nil || !strings.Contains(err.Error(), `"a" is empty or stands twice`) {
		t.Errorf("got %v", err)
	}
}

// Two servers of one program are served as one. A client finds the tools of both.
func Example() {
	room := func(name, tool, answer string) *server.Server {
		s := server.New(mcp.Implementation{Name: name, Version: "1.0.0"}, server.Options{})
		server.AddTool(s, mcp.Tool{Name: tool}, func(context.Context, *server.Request, struct{}) (string, error) { return answer, nil })
		return s
	}
	kitchen, garden := room("kitchen", "boil", "tea is ready"), room("garden", "water", "the roses are wet")
	// [compose]
	all, err := compose.New(mcp.Implementation{Name: "house", Version: "1.0.0"}, compose.Options{},
		compose.Local("kitchen", kitchen), compose.Local("garden", garden))
	// [end]
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	near, far := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- all.Server().Serve(ctx, far) }() // or all.Server().Handler(), or RunStdio
	c, err := client.Connect(ctx, near, client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var names []string
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	fmt.Println(names)
	answer, err := c.CallTool(ctx, "water", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	fmt.Println(errors.Join(c.Close(), <-served, all.Close(ctx)))
	// Output:
	// [boil water]
	// the roses are wet
	// <nil>
}
