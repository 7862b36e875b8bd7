// Package signin lets users sign in at the servers of a manager, as their entries say it, and keeps the tokens of all of them
// in one store.
//
//	store, err := oauth.OpenFiles(dir)
//	tokens := signin.New(signin.Options{Store: store, OAuth: oauth.Options{ClientName: "Desk"}})
//	defer tokens.Close()
//	m, err := manager.Open(f.Servers, manager.Options{Configure: tokens.Configure})
//	defer m.Close() // before tokens
//
// In the background nobody is disturbed: what is stored is used and refreshed, and a server that wants more is in the state
// needs authorization, until its user asks for the login:
//
//	err := tokens.Login(ctx, server) // waits for the person
//	err = m.Hurry(server.Name)       // tried again at once
package signin
