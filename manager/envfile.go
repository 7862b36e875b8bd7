package manager

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

const maxEnvFile = 1 << 20

// readEnvFile reads the variables of a file, as NAME=value. Errors name the file and the line, and never what stands there.
//
// A line is NAME=value, perhaps with "export " before it. Empty lines and those that begin with # count for nothing, and so
// does what stands behind " #". A value in quotes may hold #, go over several lines, and in double quotes has \n, \r
// and \".
func readEnvFile(path string) ([]string, error) {
	raw, err := readRegular(path)
	if err != nil {
		return nil, fmt.Errorf("envFile: %w", err)
	}
	text := string(bytes.TrimPrefix(raw, byteOrderMark))
	var env []string
	for line := 1; text != ""; {
		one, rest, _ := strings.Cut(text, "\n")
		one = strings.TrimSpace(one)
		if one == "" || one[0] == '#' {
			text, line = rest, line+1
			continue
		}
		name, value, taken, fault := variable(text)
		if fault != "" {
			return nil, fmt.Errorf("envFile %s:%d: %s", path, line, fault)
		}
		env = append(env, name+"="+value)
		line += strings.Count(text[:taken], "\n")
		text = text[taken:]
	}
	return env, nil
}

// readRegular reads a file that has an end: a pipe might keep its reader waiting for ever.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; it should be one with lines NAME=value", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	raw, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxEnvFile {
		return nil, fmt.Errorf("%s is larger than 1 MiB; it should hold lines NAME=value", path)
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, fmt.Errorf("%s holds a NUL character; save it as UTF-8 text", path)
	}
	return raw, nil
}

// variable reads the variable that text begins with, and says how much of the text it takes, line break included.
func variable(text string) (name, value string, taken int, fault string) {
	line, _, _ := strings.Cut(text, "\n")
	before, after, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(before)
	if exported, ok := strings.CutPrefix(name, "export"); ok && strings.TrimLeft(exported, " \t") != exported {
		name = strings.TrimSpace(exported)
	}
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return "", "", 0, "not of the form NAME=value"
	}
	begin := len(before) + 1 + len(after) - len(strings.TrimLeft(after, " \t"))
	if begin < len(line) && strings.IndexByte("\"'`", line[begin]) >= 0 {
		if value, taken, ok := quoted(text, begin); ok {
			return name, value, taken, ""
		}
		if strings.Count(line[begin:], line[begin:begin+1]) == 1 {
			return "", "", 0, "the quote is never closed"
		}
	}
	for i := 1; i < len(after); i++ {
		if after[i] == '#' && strings.IndexByte(" \t", after[i-1]) >= 0 {
			after = after[:i]
		}
	}
	return name, strings.TrimSpace(after), min(len(line)+1, len(text)), ""
}

// quoted reads the value in quotes at begin. Behind it there may be a comment and nothing else on the line.
func quoted(text string, begin int) (value string, taken int, ok bool) {
	quote := text[begin]
	var b strings.Builder
	for i := begin + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			b.WriteString(unescaped(text[i]))
		case c == quote:
			tail, _, _ := strings.Cut(text[i+1:], "\n")
			rest := strings.TrimSpace(tail)
			return b.String(), min(i+1+len(tail)+1, len(text)), rest == "" || rest[0] == '#'
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n': // the line break of the file, not of the value
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

// unescaped is what stands for a backslash and c in double quotes: both of them where they mean nothing, as in C:\dir.
func unescaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case '"':
		return `"`
	}
	return `\` + string(c)
}
