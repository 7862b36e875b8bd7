package interop

import (
	"encoding/json"
	"slices"
	"testing"
)

// Front is something that clients connect to: a server, or a gateway in front of several.
type Front struct {
	Name string

	// Modern says that the front serves 2026-07-28. Every front serves the legacy era.
	Modern bool

	// Era restricts the negotiation of the drivers, as in [Plan].
	Era string

	// AtOnce lets all drivers run at the same time.
	AtOnce bool

	// Open starts what has to run and says where to connect. It is called once; all drivers share what it started.
	Open func(t testing.TB) Target

	// Answers are the clients' to what the front asks.
	Answers *Answers

	// Cases are run by each driver, in this order and on one connection.
	Cases []Case
}

// Case is one step of a plan and what must come of it.
type Case struct {
	Name  string
	Step  Step
	Check func(t testing.TB, out Outcome)
}

// RunFronts drives every front with every driver. The subtests are named front/driver/case.
func RunFronts(t *testing.T, fronts []Front) {
	for _, front := range fronts {
		t.Run(front.Name, func(t *testing.T) {
			target := front.Open(t)
			for _, driver := range Drivers() {
				t.Run(driver.Name, func(t *testing.T) {
					if front.AtOnce {
						t.Parallel()
					}
					front.run(t, driver, target)
				})
			}
		})
	}
}

func (f Front) run(t *testing.T, driver Driver, target Target) {
	plan := Plan{Era: f.Era, Answers: f.Answers}
	for _, c := range f.Cases {
		plan.Steps = append(plan.Steps, c.Step)
	}
	report := driver.Run(t, target, plan)
	if f.Era == "modern" && !driver.Modern {
		if report.Error == nil {
			t.Error("a client of the legacy era connected though the plan asks for the modern one")
		}
		return
	}
	if report.Error != nil {
		t.Fatalf("connect: %d %s", report.Error.Code, report.Error.Message)
	}
	if want := f.version(driver); report.Version != want {
		t.Errorf("agreed on %q, want %q", report.Version, want)
	}
	for i, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) { c.Check(t, report.Steps[i]) })
	}
}

// version is the revision that the driver and the front must agree on.
func (f Front) version(driver Driver) string {
	if f.Modern && driver.Modern && f.Era != "legacy" {
		return modernVersion
	}
	return legacyVersion
}

// Decode reads the result of a step that must have succeeded.
func Decode[T any](t testing.TB, out Outcome) T {
	t.Helper()
	var result T
	if out.Error != nil {
		t.Fatalf("failed: %d %s", out.Error.Code, out.Error.Message)
	}
	if err := json.Unmarshal(out.Result, &result); err != nil {
		t.Fatalf("result %s: %v", out.Result, err)
	}
	return result
}

// Lists demands that a list succeeded and holds all the given names. Others may be there too, as behind a gateway.
func Lists(names ...string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		if out.Error != nil {
			t.Fatalf("failed: %d %s", out.Error.Code, out.Error.Message)
		}
		for _, name := range names {
			if !slices.Contains(out.Names, name) {
				t.Errorf("%q is missing in %q", name, out.Names)
			}
		}
	}
}

// SaysText demands a tool result that is no error and whose first block is the given text.
func SaysText(want string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[ToolResult](t, out)
		if result.IsError || len(result.Content) == 0 || result.Content[0].Text != want {
			t.Errorf("got %s, want the text %q", out.Result, want)
		}
	}
}

// FailsWithText demands a tool result that is an error and whose first block is the given text.
func FailsWithText(want string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		result := Decode[ToolResult](t, out)
		if !result.IsError || len(result.Content) == 0 || result.Content[0].Text != want {
			t.Errorf("got %s, want a tool error with the text %q", out.Result, want)
		}
	}
}

// FailsWithCode demands that the step failed with one of the given JSON-RPC codes.
func FailsWithCode(codes ...int) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		if out.Error == nil {
			t.Fatalf("got %s, want an error", out.Result)
		}
		if !slices.Contains(codes, out.Error.Code) {
			t.Errorf("code %d (%s), want one of %d", out.Error.Code, out.Error.Message, codes)
		}
	}
}

// Completes demands the given values of a completion, in this order.
func Completes(want ...string) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		if got := Decode[CompleteResult](t, out).Completion.Values; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
