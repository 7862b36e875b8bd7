package secret

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"
)

func TestKeychain(t *testing.T) {
	holds := map[string]string{"github ada": "hush", "https://h ada": "url", "empty x": "", "bytes x": "\xff"}
	k := keychain{func(service, account string) (string, error) {
		if service == "locked" {
			return "", errors.New("no such interface")
		}
		if value, ok := holds[service+" "+account]; ok {
			return value, nil
		}
		return "", keyring.ErrNotFound
	}}
	const form = "the service or the account is missing; write ${keychain:SERVICE/ACCOUNT}"
	for _, tc := range []struct{ ref, want, fault string }{
		{"github/ada", "hush", ""}, {"https://h/ada", "url", ""},
		{"github", "", form}, {"/ada", "", form}, {"github/", "", form},
		{"github/bob", "", "the keychain has nothing for this service and account; add it there"},
		{"empty/x", "", "the keychain holds an empty text; write the secret into it"},
		{"bytes/x", "", "the keychain holds what is no UTF-8 text of at most 64 KiB; write the secret into it, and nothing else"},
		{"locked/x", "", "the keychain cannot be asked: no such interface; see that it is there and unlocked, or name a file or a program instead"},
	} {
		if got, err := k.find(t.Context(), tc.ref); got != tc.want || fmt.Sprint(err) != fault(tc.fault) {
			t.Errorf("%s: got %q, %v", tc.ref, got, err)
		}
	}
}

// TestLockedKeychain is not waited for without an end.
func TestLockedKeychain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unlocked := make(chan struct{})
		defer close(unlocked)
		k := keychain{func(string, string) (string, error) { <-unlocked; return "hush", nil }}
		if _, err := k.find(context.Background(), "a/b"); err == nil || err.Error() != "the keychain has not answered within 30s; unlock it first" {
			t.Errorf("got %v", err)
		}
	})
}
