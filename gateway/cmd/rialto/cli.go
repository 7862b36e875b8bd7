package main

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/alecthomas/kong"
)

// version is that of this program when it was not built from a tagged module.
const version = "0.1.0-dev"

func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}

// grammar is the command line.
type grammar struct {
	Gateway   gatewayCommand   `cmd:"" help:"Serve all servers of a configuration file as one. This is the main job."`
	Bridge    bridgeCommand    `cmd:"" help:"Serve one server on the other kind of transport: a program over HTTP, an address on standard input and output."`
	Check     checkCommand     `cmd:"" help:"Read a configuration file as the gateway would, and show it in full or what is wrong with it."`
	Pin       pinCommand       `cmd:"" help:"Accept what the servers of a configuration file list now, or say what has changed."`
	Login     loginCommand     `cmd:"" help:"Sign in at a server of a configuration file, in a browser. The tokens are kept, encrypted, for the gateway and the commands below."`
	Logout    logoutCommand    `cmd:"" help:"Forget the tokens of a server, and tell its authorization server."`
	Discover  discoverCommand  `cmd:"" help:"Show what a server is and can do."`
	Tools     toolsCommand     `cmd:"" help:"List the tools of a server."`
	Resources resourcesCommand `cmd:"" help:"List the resources and resource templates of a server."`
	Prompts   promptsCommand   `cmd:"" help:"List the prompts of a server."`
	Call      callCommand      `cmd:"" help:"Call a tool."`
	Read      readCommand      `cmd:"" help:"Read a resource."`
	Prompt    promptCommand    `cmd:"" help:"Get a prompt."`

	Version kong.VersionFlag `help:"Show the version."`
}

// targeted are the arguments and flags of every command that talks to a server.
type targeted struct {
	Target string `arg:"" optional:"" help:"URL, or name of a server in the configuration file. Leave it out and put a command at the end, behind --, to start a server."`

	Config  string        `placeholder:"FILE" help:"Configuration file. Without it mcp.json or .mcp.json in the current folder."`
	Era     string        `enum:"auto,legacy,modern" default:"auto" help:"Era to speak: auto, legacy or modern."`
	Header  []string      `sep:"none" placeholder:"\"NAME: VALUE\"" help:"HTTP header to send. May be repeated."`
	Env     []string      `short:"e" sep:"none" placeholder:"KEY=VALUE" help:"Environment variable for the server that is started. May be repeated."`
	Timeout time.Duration `placeholder:"TIME" help:"How long to wait for the connection, and for an answer, such as 30s."`
	JSON    bool          `name:"json" help:"Data as JSON on standard output, an error as one line of JSON on standard error."`

	fileFlags
	command []string // behind --
}

// job is a command that has been parsed. words are the positional arguments after the target.
type job interface {
	do(ctx context.Context, e *environment) error
	target() *targeted // nil for a command without one
	shift()            // a command stands behind "--": the first word is no target
}

func (t *targeted) target() *targeted { return t }
func (t *targeted) shift()            {}

const description = `A gateway for the Model Context Protocol, and a client of it.

Exit codes: 0 done, 1 usage or configuration, 3 authorization needed, 4 server not reachable, 5 tool or server error, 6 not as it was accepted.`

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, e *environment) int {
	if len(args) > 0 && args[0] == "help" { // "rialto help call" is what many try first
		args = append(slices.Clone(args[1:]), "--help")
	}
	var command []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, command = args[:i], args[i+1:]
		if len(command) == 0 {
			return e.fail(false, usage("behind -- a command is missing; for example: rialto tools -- npx -y some-server"))
		}
	}
	job, code, err := parse(args, e)
	if job == nil && err == nil {
		return code
	}
	if err != nil {
		return e.fail(slices.Contains(args, "--json"), err)
	}
	t := job.target()
	if t == nil {
		asJSON := false
		switch job := job.(type) {
		case *checkCommand:
			asJSON = job.JSON
		case *pinCommand:
			asJSON = job.JSON
		}
		if command != nil {
			return e.fail(asJSON, usage("rialto %s takes no command; put it into a configuration file", args[0]))
		}
		return e.fail(asJSON, job.do(ctx, e))
	}
	if command != nil {
		job.shift()
		if t.Target != "" {
			return e.fail(t.JSON, usage("%q is one word too many: the command behind -- is the target", t.Target))
		}
		t.command = command
	}
	return e.fail(t.JSON, interrupted(ctx, job.do(ctx, e)))
}

// parse reads the command line. Help and version answer no job and no error.
func parse(args []string, e *environment) (job, int, error) {
	var g grammar
	exited, code := false, 0
	parser, err := kong.New(&g,
		kong.Name("rialto"), kong.Description(description), kong.Writers(e.stdout, e.stderr),
		kong.Vars{"version": "rialto " + programVersion()}, kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(c int) { exited, code = true, c }),
	)
	if err != nil {
		return nil, 0, err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if exited {
		return nil, code, nil
	}
	var bad *kong.ParseError
	if errors.As(err, &bad) {
		return nil, 0, usage("%s; see rialto %s--help", bad, commandOf(bad.Context))
	}
	if err != nil {
		return nil, 0, usage("%s; see rialto --help", err)
	}
	return k.Selected().Target.Addr().Interface().(job), 0, nil
}

func commandOf(k *kong.Context) string {
	if k == nil || k.Selected() == nil {
		return ""
	}
	return k.Selected().Name + " "
}
