package stdio

import (
	"errors"
	"strings"
)

// batchLine builds the command line that runs a Windows batch file (npx.cmd, say) so that the interpreter takes no
// part of an argument for a command of its own. It is plain text work and the same on every system.
//
// Each word is quoted; quotes inside are doubled. Percent signs, which the interpreter expands even in quotes, are
// broken up by the empty substring of a variable that always exists. Line breaks and NUL cannot be passed at all.
func batchLine(path string, args []string) (string, error) {
	if strings.ContainsAny(path, "\"%\r\n\x00") {
		return "", errors.New("the path of a batch file cannot hold quotes, percent signs or line breaks")
	}
	var line strings.Builder
	line.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""` + path + `"`)
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", errors.New("an argument of a batch file cannot hold line breaks or NUL")
		}
		line.WriteByte(' ')
		quoteBatch(&line, arg)
	}
	line.WriteByte('"')
	return line.String(), nil
}

// quoteBatch writes one argument. Backslashes before a quote are doubled, for the program behind the batch file reads
// them as escapes.
func quoteBatch(line *strings.Builder, arg string) {
	line.WriteByte('"')
	slashes := 0
	for i := 0; i < len(arg); i++ {
		switch c := arg[i]; c {
		case '\\':
			slashes++
			line.WriteByte(c)
			continue
		case '"':
			line.WriteString(strings.Repeat(`\`, slashes))
			line.WriteString(`""`)
		case '%':
			line.WriteString(`%%cd:~,%`)
		default:
			line.WriteByte(c)
		}
		slashes = 0
	}
	line.WriteString(strings.Repeat(`\`, slashes))
	line.WriteByte('"')
}
