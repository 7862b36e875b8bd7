package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestOneStaticBinary holds that the program is one file that needs no C library, no file and no variable around it.
func TestOneStaticBinary(t *testing.T) {
	folder := t.TempDir()
	bin := filepath.Join(folder, "rialto")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if runtime.GOOS == "linux" {
		program, err := elf.Open(bin)
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		for _, part := range program.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("the program is linked at its start: it has a part %s", part.Type)
			}
		}
	}
	// It is its own server here: the demonstration on standard input and output.
	call := exec.CommandContext(t.Context(), bin, "call", "add", "a=2", "b=3", "--", bin, "gateway", "--stdio")
	call.Dir, call.Env = folder, []string{}
	out, err := call.CombinedOutput()
	if err != nil || string(out) != `{"sum":5}`+"\n" {
		t.Errorf("%v: %s", err, out)
	}
}
