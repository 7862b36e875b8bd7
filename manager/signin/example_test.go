package signin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/manager/signin"
)

// connect opens the servers of a file. Tokens are kept in a folder for the next time. Close the manager before the tokens.
func connect(f *manager.File, folder string) (*manager.Manager, *signin.Tokens, error) {
	store, err := oauth.OpenFiles(folder)
	if err != nil {
		return nil, nil, err
	}
	tokens := signin.New(signin.Options{
		Store: store, Open: agree, // without Open the system's browser is used
		All:   true, // also where an entry says nothing, and its server answers 401
		OAuth: oauth.Options{ClientName: "Desk"},
	})
	m, err := manager.Open(f.Servers, manager.Options{Configure: tokens.Configure})
	return m, tokens, err
}

// login lets the user sign in wherever a server waits for it.
func login(ctx context.Context, f *manager.File, m *manager.Manager, tokens *signin.Tokens) error {
	m.Settled(ctx) // every server has been tried once
	for _, status := range m.Status() {
		s, ok := f.Server(status.Name)
		if !ok || status.State != manager.NeedsAuthorization {
			continue
		}
		if err := tokens.Login(ctx, *s); err != nil { // waits for the person
			return err
		}
		if err := m.Hurry(s.Name); err != nil {
			return err
		}
	}
	return nil
}

// A server wants to know who asks; its user signs in once.
func Example() {
	office := openOffice()
	defer office.close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := manager.Read(strings.NewReader(`{"mcpServers": {"office": {"url": "`+office.address+`"}}}`), "mcp.json", manager.ReadOptions{})
	if err != nil {
		panic(err)
	}
	for range 2 { // the second time nobody is asked
		m, tokens, err := connect(f, filepath.Join(dir, "tokens"))
		if err != nil {
			panic(err)
		}
		connected := make(chan struct{}, 1)
		m.OnEvent(func(e manager.Event) {
			if e.Status.State == manager.Ready {
				select {
				case connected <- struct{}{}:
				default:
				}
			}
		})
		if err := login(context.Background(), f, m, tokens); err != nil {
			panic(err)
		}
		if !m.Status()[0].State.Usable() {
			<-connected
		}
		result, err := m.CallTool(context.Background(), "office", "whoami", nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Text(), "after", office.count(), "login")
		m.Close()
		if err := tokens.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// Ada after 1 login
	// Ada after 1 login
}
