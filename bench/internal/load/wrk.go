package load

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// Wrk runs the load with the program wrk instead of senders of our own, and returns the answers a second. wrk counts in
// whole seconds, so that the time is rounded up to one. It checks each status but no body. Its script goes into dir.
func Wrk(ctx context.Context, program, dir string, h HTTP, duration time.Duration) (float64, error) {
	script := filepath.Join(dir, "load.lua")
	if err := os.WriteFile(script, []byte(h.script()), 0o600); err != nil {
		return 0, err
	}
	seconds := int(math.Ceil(duration.Seconds()))
	cmd := exec.CommandContext(ctx, program, "-t1", fmt.Sprintf("-c%d", h.Conns), fmt.Sprintf("-d%ds", seconds),
		"-s", script, "http://"+h.Addr+"/mcp")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return parseWrk(string(out))
}

// script writes the requests in Lua: ids count up, and sessions take turns.
func (h HTTP) script() string {
	const id = `"id":1000000000`
	head, rest, _ := strings.Cut(wire.Message(h.Kind, h.Modern, 0), id)
	var b strings.Builder
	b.WriteString("local headers = {}\n")
	for _, header := range wire.Headers(h.Kind, h.Modern, "") {
		fmt.Fprintf(&b, "headers[%q] = %q\n", header[0], header[1])
	}
	b.WriteString("local sessions = {}\n")
	for i, session := range h.Sessions {
		fmt.Fprintf(&b, "sessions[%d] = %q\n", i+1, session)
	}
	fmt.Fprintf(&b, `local id = 1000000000
function request()
  id = id + 1
  if #sessions > 0 then headers[%q] = sessions[id %% #sessions + 1] end
  return wrk.format("POST", nil, headers, %q .. id .. %q)
end
`, wire.SessionHeader, head+`"id":`, rest)
	return b.String()
}

// parseWrk reads the rate from the report of wrk and fails when anything in it speaks of failures.
func parseWrk(report string) (float64, error) {
	rate := 0.0
	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Non-2xx") || strings.HasPrefix(line, "Socket errors") {
			return 0, fmt.Errorf("wrk saw failures: %s", line)
		}
		if value, found := strings.CutPrefix(line, "Requests/sec:"); found {
			var err error
			if rate, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
				return 0, fmt.Errorf("read the rate of wrk: %w", err)
			}
		}
	}
	if rate <= 0 {
		return 0, fmt.Errorf("wrk reported no rate: %s", report)
	}
	return rate, nil
}
