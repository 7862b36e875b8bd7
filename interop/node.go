package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// requirePeers is the environment variable that turns a missing peer from a skip into a failure.
const requirePeers = "RIALTO_REQUIRE_PEERS"

// oldestNode is the first major version of Node that all peers run on.
const oldestNode = 20

// nodeHome is where Node and the peers are, or what is missing. It is looked up once for a test run.
var nodeHome = sync.OnceValues(func() (node string, err error) {
	node, err = exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("node is not installed; Node %d or newer is needed", oldestNode)
	}
	version, err := exec.Command(node, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node --version: %w", err)
	}
	if err := checkNode(string(version)); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join("node", "node_modules")); err != nil {
		return "", fmt.Errorf("the packages of interop/node are not installed; run npm ci there")
	}
	return node, nil
})

func checkNode(version string) error {
	version = strings.TrimSpace(version)
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	number, err := strconv.Atoi(major)
	if err != nil {
		return fmt.Errorf("node --version answers %q, which is no version", version)
	}
	if number < oldestNode {
		return fmt.Errorf("node is %s; Node %d or newer is needed", version, oldestNode)
	}
	return nil
}

// NodePath returns the Node to run peers with. Without Node or without the peers' packages it skips the test, or fails
// it where RIALTO_REQUIRE_PEERS is 1.
func NodePath(t testing.TB) string {
	t.Helper()
	node, err := nodeHome()
	if err == nil {
		return node
	}
	if os.Getenv(requirePeers) == "1" {
		t.Fatalf("peers are required: %v", err)
	}
	t.Skipf("no peers: %v (%s=1 makes this a failure)", err, requirePeers)
	return ""
}

// nodeScript returns the absolute path of a file under the folder node/.
func nodeScript(t testing.TB, path ...string) string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(append([]string{"node"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// nodeDriver runs a client driver of the folder node/: the target on its command line, the plan on its standard input,
// the report on its standard output.
func nodeDriver(script string) func(testing.TB, Target, Plan) *Report {
	return func(t testing.TB, target Target, plan Plan) *Report {
		t.Helper()
		args := []string{nodeScript(t, script)}
		if target.URL != "" {
			args = append(args, target.URL)
		} else {
			args = append(append(args, "--"), target.Command...)
		}
		ctx, cancel := context.WithTimeout(t.Context(), driveLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, NodePath(t), args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin = bytes.NewReader(marshal(t, plan))
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		// A group of its own, so that a server that the driver started ends with it when time is over.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stderr.String())
		}
		report := &Report{}
		if err := json.Unmarshal(stdout.Bytes(), report); err != nil {
			t.Fatalf("%s: report: %v\n%s%s", script, err, stdout.String(), stderr.String())
		}
		return report
	}
}
