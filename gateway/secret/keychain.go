package secret

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zalando/go-keyring"
)

// keychain asks that of the operating system: the Keychain of macOS, the Credential Manager of Windows, the Secret Service of
// others.
type keychain struct {
	get func(service, account string) (string, error)
}

func newKeychain() keychain { return keychain{keyring.Get} }

// find gives what is kept for SERVICE/ACCOUNT. The library knows no contexts, and a keychain that is locked waits for its user: a
// question that is given up is left behind, and ends with the answer or with the program.
func (k keychain) find(ctx context.Context, ref string) (string, error) {
	at := strings.LastIndexByte(ref, '/')
	if at <= 0 || at == len(ref)-1 {
		return "", errors.New("the service or the account is missing; write ${keychain:SERVICE/ACCOUNT}")
	}
	ctx, cancel := context.WithTimeout(ctx, longestHelp)
	defer cancel()
	type answer struct {
		value string
		err   error
	}
	done := make(chan answer, 1)
	go func() { // see above
		value, err := k.get(ref[:at], ref[at+1:])
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return keptAs(a.value, a.err)
	case <-ctx.Done():
		return "", fmt.Errorf("the keychain has not answered within %s; unlock it first", longestHelp)
	}
}

func keptAs(value string, err error) (string, error) {
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return "", errors.New("the keychain has nothing for this service and account; add it there")
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return "", errors.New("this system has no keychain that is known here; name a file or a program instead")
	case err != nil:
		return "", fmt.Errorf("the keychain cannot be asked: %w; see that it is there and unlocked, or name a file or a program instead", err)
	case value == "":
		return "", errors.New("the keychain holds an empty text; write the secret into it")
	case len(value) > maxValue || !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "", errors.New("the keychain holds what is no UTF-8 text of at most 64 KiB; write the secret into it, and nothing else")
	}
	return value, nil
}
