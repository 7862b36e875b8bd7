// Command render shows a tool that takes long: its calls go on as tasks, which a file keeps.
//
// Usage:
//
//	render serve [-addr HOST:PORT] [-file FILE]   serve the tool render at /mcp
//	render start URL TITLE SECONDS                start a film and print the id of its task
//	render wait URL ID                            wait for the film, from whatever program
//	render cancel URL ID                          give it up
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("say serve, start URL TITLE SECONDS, wait URL ID or cancel URL ID")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	if args[0] == "serve" {
		return serve(ctx, args[1:])
	}
	if len(args) < 3 {
		return errUsage
	}
	c, err := client.DialHTTP(ctx, args[1], client.Options{Tasks: true})
	if err != nil {
		return err
	}
	defer c.Close()
	switch {
	case args[0] == "start" && len(args) == 4:
		return start(ctx, c, args[2], args[3])
	case args[0] == "wait":
		return wait(ctx, c, args[2])
	case args[0] == "cancel":
		return c.CancelTask(ctx, args[2])
	}
	return errUsage
}

// start begins a film. What it prints is all that has to be kept to find the film again.
func start(ctx context.Context, c *client.Client, title, seconds string) error {
	takes, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	call, err := c.StartTool(ctx, "render", film{Title: title, Seconds: takes})
	if err != nil {
		return err
	}
	if call.Task == nil { // a server may answer at once
		return show(call.Result)
	}
	fmt.Println(call.Task.ID)
	return nil
}

// wait takes up a task by its id.
func wait(ctx context.Context, c *client.Client, id string) error {
	result, err := c.AwaitTask(ctx, id)
	if err != nil {
		return err
	}
	return show(result)
}

// show prints what the tool has said, or fails with it.
func show(result *mcp.CallToolResult) error {
	if result.IsError {
		return errors.New(result.Text())
	}
	fmt.Println(result.Text())
	return nil
}
