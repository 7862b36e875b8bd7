package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestCheckWithoutAFile says how to name one.
func TestCheckWithoutAFile(t *testing.T) {
	var stderr bytes.Buffer
	e := &environment{stdout: new(bytes.Buffer), stderr: &stderr, folder: t.TempDir()}
	if code := run(t.Context(), []string{"check"}, e); code != exitUsage || !strings.Contains(stderr.String(), "name the file: rialto check FILE") {
		t.Errorf("exit %d, %q", code, &stderr)
	}
}

// TestCheckIsInterrupted while a server does not answer.
func TestCheckIsInterrupted(t *testing.T) {
	ts := site(t)
	file := t.TempDir() + "/mcp.json"
	(&following{file: file}).write(t, `{"mcpServers": {"silent": {"url": "`+ts.URL+`/silent"}}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var stdout, stderr bytes.Buffer
	e := &environment{stdout: &stdout, stderr: &stderr, lookup: func(string) (string, bool) { return "", false }}
	if code := run(ctx, []string{"check", file, "--connect"}, e); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit %d, %q, %q", code, &stdout, &stderr)
	}
}

// TestCheckReadsItsOwnOutput holds that the normal form is a configuration with the same normal form.
func TestCheckReadsItsOwnOutput(t *testing.T) {
	folder := t.TempDir()
	show := func(name string) string {
		var stdout, stderr bytes.Buffer
		e := &environment{stdout: &stdout, stderr: &stderr, lookup: func(string) (string, bool) { return "", false }}
		if code := run(t.Context(), []string{"check", folder + "/" + name}, e); code != 0 {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
		return stdout.String()
	}
	write := func(name, text string) { (&following{file: folder + "/" + name}).write(t, text) }
	write("a.json", `{"servers": {"x": {"type": "stdio", "command": "npx", "args": ["-y", "some-server"], "env": {"KEY": "${HOME:-none}"}}}}`)
	first := show("a.json")
	write("b.json", first)
	if second := show("b.json"); second != first {
		t.Errorf("got %s, and of that %s", first, second)
	}
}
