// Package echo says what every server of the bench offers: one echo tool among 51, and how a client of any SDK calls it.
package echo

import (
	"context"
	"fmt"
)

// Tool is the name of the tool that the bench calls; Count is the number of tools a server lists.
const (
	Tool        = "echo"
	Count       = 51
	Description = "Answers with the text it was given"
)

// Input is what each tool takes: {"text": string}, nothing else.
type Input struct {
	Text string `json:"text" jsonschema:"the text to send back"`
}

// Names lists the tools: echo first, then fifty like it.
func Names() []string {
	names := []string{Tool}
	for i := 1; i < Count; i++ {
		names = append(names, fmt.Sprintf("%s_%02d", Tool, i))
	}
	return names
}

// Caller is a connected client. Echo may be called from several goroutines at once; Close is called once.
type Caller interface {
	// Echo calls the tool and returns the text of the one block in the answer.
	Echo(ctx context.Context, text string) (string, error)
	Close() error
}

// Dialer makes callers of one SDK.
type Dialer struct {
	HTTP  func(ctx context.Context, url string) (Caller, error)
	Stdio func(ctx context.Context, program string) (Caller, error) // starts the program and owns it
}
