package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

const (
	legacyVersion = mcp.Version20251125
	modernVersion = mcp.Version20260728

	// driveLimit bounds one plan on one target, the start of a Node driver included.
	driveLimit = 60 * time.Second

	// lateProgress is how long a driver waits after an answer for progress that its library delivers late.
	lateProgress = 10 * time.Second
)

// Target says where a driver connects: to URL over Streamable HTTP or, where SSE is set, over HTTP+SSE, or to Command over
// stdio.
type Target struct {
	URL     string
	SSE     bool
	Command []string
}

// Driver is one client library.
type Driver struct {
	Name string

	// Modern says that the library speaks 2026-07-28 and takes it where the server does.
	Modern bool

	run func(t testing.TB, target Target, plan Plan) *Report
}

// Drivers returns all of them.
func Drivers() []Driver {
	return []Driver{
		{Name: "typescript-1", run: nodeDriver("client1.mjs")},
		{Name: "typescript-2", Modern: true, run: nodeDriver("client2.mjs")},
		{Name: "go-sdk", Modern: true, run: goDriver("go-sdk", dialGoSDK)},
		{Name: "mcp-go", Modern: true, run: goDriver("mcp-go", dialMCPGo)},
		{Name: "rialto", Modern: true, run: goDriver("rialto", dialRialto)},
	}
}

// SSEDrivers returns the libraries that have a client for HTTP+SSE, the transport of 2024-11-05.
func SSEDrivers() []Driver {
	return []Driver{
		{Name: "typescript-1-sse", run: nodeDriver("sse1.mjs")},
		{Name: "go-sdk-sse", run: goDriver("go-sdk-sse", dialGoSDK)},
		{Name: "mcp-go-sse", run: goDriver("mcp-go-sse", dialMCPGo)},
		{Name: "rialto-sse", run: goDriver("rialto-sse", dialRialto)},
	}
}

// Run carries out the plan and returns the report. It fails the test when the driver itself breaks or when the report
// has not one outcome a step; a refused connection and failed steps are part of the report.
func (d Driver) Run(t testing.TB, target Target, plan Plan) *Report {
	t.Helper()
	report := d.run(t, target, plan)
	if report.Error == nil && len(report.Steps) != len(plan.Steps) {
		t.Fatalf("%s: %d outcomes for %d steps", d.Name, len(report.Steps), len(plan.Steps))
	}
	return report
}

// session is a connected Go client. One goroutine uses it; progress may come in on others.
type session interface {
	// about says which revision was agreed and what the server said of itself.
	about() (version string, server, capabilities any)

	// list returns all pages, as a slice of the library's own values and the label of each.
	list(ctx context.Context, kind string) (items []any, names []string, err error)
	call(ctx context.Context, step Step, progress *progressLog) (any, error)
	read(ctx context.Context, uri string) (any, error)
	prompt(ctx context.Context, name string, arguments map[string]string) (any, error)
	complete(ctx context.Context, ref Ref, argument Argument) (any, error)
	ping(ctx context.Context) error

	// failure turns an error of the library into its code and message.
	failure(err error) *Failure
	close() error
}

// dialer connects, in the era of the plan and with its answers. The context bounds the whole session.
type dialer func(ctx context.Context, target Target, plan Plan) (session, error)

func goDriver(name string, dial dialer) func(testing.TB, Target, Plan) *Report {
	return func(t testing.TB, target Target, plan Plan) *Report {
		ctx, cancel := context.WithTimeout(t.Context(), driveLimit)
		defer cancel()
		report := &Report{Driver: name}
		s, err := dial(ctx, target, plan)
		if err != nil {
			report.Error = &Failure{Message: err.Error()}
			return report
		}
		defer func() {
			if err := s.close(); err != nil {
				t.Logf("%s: close: %v", name, err)
			}
		}()
		version, server, capabilities := s.about()
		report.Version, report.Server, report.Capabilities = version, marshal(t, server), marshal(t, capabilities)
		if plan.Era == "modern" && version != modernVersion {
			report.Error = &Failure{Message: fmt.Sprintf("asked for %s, got %s", modernVersion, version)}
			return report
		}
		for _, step := range plan.Steps {
			report.Steps = append(report.Steps, runStep(ctx, t, s, step))
		}
		return report
	}
}

func runStep(ctx context.Context, t testing.TB, s session, step Step) Outcome {
	var out Outcome
	var result any
	var err error
	switch step.Do {
	case "list":
		var items []any
		items, out.Names, err = s.list(ctx, step.Kind)
		for _, item := range items {
			out.Items = append(out.Items, marshal(t, item))
		}
	case "call":
		progress := newProgressLog()
		result, err = s.call(ctx, step, progress)
		out.Progress = progress.wait(ctx, step.Progress)
	case "read":
		result, err = s.read(ctx, step.URI)
	case "prompt":
		var arguments map[string]string
		if arguments, err = texts(step.Arguments); err == nil {
			result, err = s.prompt(ctx, step.Name, arguments)
		}
	case "complete":
		result, err = s.complete(ctx, *step.Ref, *step.Argument)
	case "ping":
		result, err = struct{}{}, s.ping(ctx)
	default:
		err = fmt.Errorf("unknown step %q", step.Do)
	}
	if err != nil {
		out.Error = s.failure(err)
		return out
	}
	if step.Do != "list" {
		out.Result = marshal(t, result)
	}
	return out
}

func texts(arguments map[string]any) (map[string]string, error) {
	out := make(map[string]string, len(arguments))
	for name, value := range arguments {
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("argument %q of a prompt must be a string", name)
		}
		out[name] = text
	}
	return out, nil
}

func marshal(t testing.TB, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	return data
}
