package interop

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/server"
)

// shapeMethods are the methods whose frames have to be there in each era.
var shapeMethods = map[string][]string{
	"legacy": {
		"initialize", "notifications/initialized", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list",
		"resources/read", "prompts/list", "prompts/get", "completion/complete",
	},
	"modern": {
		"server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
		"prompts/get", "completion/complete",
	},
}

// shapeDifferences are wanted: what stands on one side only, and why.
var shapeDifferences = map[string]string{
	"ours: .result.capabilities.logging{}":                "our servers always take a log level; theirs when they are told to",
	"ours: .result.capabilities.resources.subscribe=true": "our servers always take subscriptions; theirs when they are told to",
	"legacy ours: .error.code=-32002":                     "a missing resource has a code of its own in the legacy revisions",
	"legacy theirs: .error.code=-32602":                   "see the line above",
}

// TestShapes holds our frames against recorded ones of the official TypeScript SDK, method by method in both eras: the
// official client and ours ask the same server, and the same client asks the official server and ours of the same
// content. Members have to be the same, and the values of those that the protocol fixes; texts may differ.
func TestShapes(t *testing.T) {
	official, own := StartMemo(t), startOwn(t, server.Options{})
	for _, era := range []string{"legacy", "modern"} {
		plan := Plan{Era: era}
		for _, c := range memoCases() {
			plan.Steps = append(plan.Steps, c.Step)
		}
		if era == "legacy" {
			plan.Steps = append(plan.Steps, Step{Do: "ping"})
		}
		client := record(t, own, drive(t, "typescript-2", plan))
		ours, peer := record(t, own, drive(t, "rialto", plan)), record(t, official, drive(t, "rialto", plan))
		t.Run(era+" requests", func(t *testing.T) { compareShapes(t, era, shapeMethods[era], client.only(true), ours.only(true)) })
		t.Run(era+" answers", func(t *testing.T) { compareShapes(t, era, shapeMethods[era], peer.only(false), ours.only(false)) })
	}
}

// only leaves the requests, or what is no request.
func (f frames) only(requests bool) frames {
	out := maps.Clone(f)
	maps.DeleteFunc(out, func(name string, _ []string) bool { return strings.HasSuffix(name, " request") != requests })
	return out
}

func compareShapes(t *testing.T, era string, methods []string, theirs, ours frames) {
	for _, method := range methods {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(ours)), func(name string) bool { return strings.HasPrefix(name, method+" 1 ") }) {
			t.Errorf("no frame of %s was recorded", method)
		}
	}
	oneSided(t, era, "theirs", theirs, ours)
	oneSided(t, era, "ours", ours, theirs)
}

// oneSided reports what of a stands not in b.
func oneSided(t *testing.T, era, side string, a, b frames) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		for _, path := range a[name] {
			line := side + ": " + path
			if slices.Contains(b[name], path) || shapeDifferences[line] != "" || shapeDifferences[era+" "+line] != "" {
				continue
			}
			t.Errorf("%s, only %s", name, line)
		}
	}
}
