// Package secret asks the stores that texts of a configuration may refer to, so that secrets stand neither in the file nor in the
// environment:
//
//	${file:PATH}                  the content of a file; relative to the configuration
//	${keychain:SERVICE/ACCOUNT}   the keychain of the operating system
//	${vault:MOUNT/PATH#KEY}       HashiCorp Vault, key-value engine of either version
//	${op:dev/github/token}        what a program prints, for a name that the configuration gives it
//
// Vault is found as its own programs find it, by VAULT_ADDR, VAULT_TOKEN or VAULT_TOKEN_FILE, VAULT_NAMESPACE and VAULT_CACERT.
//
// Package manager takes references apart and decides what is asked for, how often and side by side. No value of a store, and no
// token, is in any error.
package secret

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// maxValue bounds what a file or a program may give, in bytes.
const maxValue = 64 << 10

// Options says where stores are. The zero value is ready to use.
type Options struct {
	// Lookup gives variables of the environment, os.LookupEnv for example. Nil means that there are none.
	Lookup func(name string) (value string, ok bool)

	// Folder is what relative paths are relative to. Empty means the current one.
	Folder string

	// Helpers are programs with their arguments, in which {ref} stands for what is asked for, by the schemes of references.
	// They must have passed [CheckHelper].
	Helpers map[string][]string

	// Warn is told, in one line, of what should be looked at. It may be called concurrently. Nil means that nobody is told.
	Warn func(text string)
}

func (o Options) withDefaults() Options {
	if o.Lookup == nil {
		o.Lookup = func(string) (string, bool) { return "", false }
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return o
}

// path finds a file.
func (o Options) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Folder, name)
}

// Stores gives the stores for one reading of a configuration, by the schemes of references. What Vault has answered is kept in
// them, so that several keys of one secret are of one version of it.
func Stores(o Options) map[string]manager.SecretFunc {
	o = o.withDefaults()
	all := map[string]manager.SecretFunc{"file": o.file, "keychain": newKeychain().find, "vault": newVault(o).get}
	for name, command := range o.Helpers {
		all[name] = helper{command: command, options: o}.get
	}
	return all
}

// Schemes gives the stores that references may name, without a way to ask them: their references stay as they are written.
func Schemes(helpers map[string][]string) map[string]manager.SecretFunc {
	all := Stores(Options{Helpers: helpers})
	for scheme := range all {
		all[scheme] = nil
	}
	return all
}

var (
	schemeOf = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	taken    = []string{"env", "input", "file", "vault", "keychain", "command", "config"} // here, or in the files of hosts
)

// maxArguments bounds the words of the command of a helper.
const maxArguments = 64

// CheckHelper says what is wrong with a helper of the configuration.
func CheckHelper(name string, command []string) error {
	switch {
	case slices.Contains(taken, name):
		return fmt.Errorf("${%s:...} has a meaning already; choose another name", name)
	case !schemeOf.MatchString(name):
		return errors.New("the name of a helper is of 1 to 32 small letters, digits and '-', and begins with a letter; rename it")
	case len(command) == 0 || command[0] == "":
		return errors.New(`this names no program; write a list such as ["op", "read", "op://{ref}"]`)
	case len(command) > maxArguments:
		return fmt.Errorf("a helper has at most %d words; put the command into a script", maxArguments)
	case strings.Contains(command[0], Placeholder):
		return errors.New("a reference must not choose the program; write {ref} into an argument")
	case !slices.ContainsFunc(command, func(word string) bool { return strings.Contains(word, Placeholder) }):
		return errors.New(`the program is not told what is asked for; write {ref} into an argument, as in ["op", "read", "op://{ref}"]`)
	case slices.ContainsFunc(command, func(word string) bool { return strings.ContainsRune(word, 0) }):
		return errors.New("the command holds a NUL character; remove it")
	}
	return nil
}

// trimEnd takes off one line end, which editors and programs add.
func trimEnd(text string) string {
	text, found := strings.CutSuffix(text, "\n")
	if found {
		text = strings.TrimSuffix(text, "\r")
	}
	return text
}
