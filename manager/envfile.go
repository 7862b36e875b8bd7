package manager

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// readEnvFile reads lines NAME=value. Empty lines and those that begin with # count for nothing; a value may stand in
// quotes, and "export " may stand before a name.
func readEnvFile(path string) ([]string, error) {
	const most = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("envFile: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	_ = f.Close() // it was read only
	if err != nil {
		return nil, fmt.Errorf("envFile: %w", err)
	}
	if len(raw) > most {
		return nil, fmt.Errorf("envFile %s: larger than 1 MiB; it should hold lines NAME=value", path)
	}
	var env []string
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("envFile %s:%d: not of the form NAME=value", path, i+1)
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}
