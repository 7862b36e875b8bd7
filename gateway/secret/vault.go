package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// vault asks HashiCorp Vault, or what speaks as it does, for one reading of a configuration. It may be used concurrently.
type vault struct {
	options Options
	open    func() (*vaultClient, error)

	mu      sync.Mutex
	secrets map[string]*vaultSecret // by path
}

// vaultSecret is what stands at a path. It is asked for once.
type vaultSecret struct {
	once  sync.Once
	holds map[string]json.RawMessage
	err   error
}

func newVault(o Options) *vault {
	return &vault{options: o, secrets: make(map[string]*vaultSecret), open: sync.OnceValues(func() (*vaultClient, error) { return openVault(o) })}
}

// get gives one key of a secret.
func (v *vault) get(ctx context.Context, ref string) (string, error) {
	path, key, err := splitVault(ref)
	if err != nil {
		return "", err
	}
	c, err := v.open()
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	s := v.secrets[path]
	if s == nil {
		s = &vaultSecret{}
		v.secrets[path] = s
	}
	v.mu.Unlock()
	s.once.Do(func() { s.holds, s.err = c.read(ctx, path) })
	if s.err != nil {
		return "", s.err
	}
	return textOf(s.holds, key)
}

// splitVault takes MOUNT/PATH#KEY apart. Keys may hold '#', paths may not.
func splitVault(ref string) (path, key string, err error) {
	path, key, ok := strings.Cut(ref, "#")
	steps := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case !ok || key == "":
		return "", "", errors.New("the key is missing; write ${vault:MOUNT/PATH#KEY}")
	case len(steps) < 2 || slices.Contains(steps, ""):
		return "", "", errors.New("this is no path in Vault; write ${vault:MOUNT/PATH#KEY}, such as ${vault:kv/dev/db#password}")
	case slices.Contains(steps, ".") || slices.Contains(steps, ".."):
		return "", "", errors.New("a path in Vault has no steps . and ..; write it out")
	}
	return strings.Join(steps, "/"), key, nil
}

// textOf gives the text of one key. Numbers, true and false are taken as they are written.
func textOf(holds map[string]json.RawMessage, key string) (string, error) {
	raw, ok := holds[key]
	if !ok {
		return "", errors.New("the secret has no such key; vault kv get shows those that it has")
	}
	var text string
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return "", errors.New("the key holds null; write a text into it")
	case raw[0] == '{', raw[0] == '[':
		return "", errors.New("the key holds an object or a list; name one that holds a text")
	case raw[0] != '"':
		return string(raw), nil
	case json.Unmarshal(raw, &text) != nil || strings.ContainsRune(text, 0):
		return "", errors.New("the key holds what is not UTF-8 text; write a text into it")
	case text == "":
		return "", errors.New("the key holds an empty text; write the secret into it")
	case len(text) > maxValue:
		return "", errors.New("the key holds more than 64 KiB; it should hold the secret and nothing else")
	}
	return text, nil
}

// read gives what stands at a path. Which part of it is the mount, and of which version its engine is, is asked of Vault, as its
// own programs do; a Vault that does not know the question has engines of version 1 only.
func (c *vaultClient) read(ctx context.Context, path string) (map[string]json.RawMessage, error) {
	var mount struct {
		Data struct {
			Path    string            `json:"path"`
			Type    string            `json:"type"`
			Options map[string]string `json:"options"`
		} `json:"data"`
	}
	err := c.get(ctx, "sys/internal/ui/mounts/"+escapePath(path), &mount)
	var status statusError
	switch {
	case errors.As(err, &status) && status == 404:
		return c.readAt(ctx, path, 1)
	case err != nil:
		return nil, err
	}
	name := strings.Trim(mount.Data.Path, "/")
	rest, ok := strings.CutPrefix(path, name+"/")
	switch {
	case name == "" || !ok || rest == "":
		return nil, errors.New("the Vault has no engine for this path; vault secrets list shows those that there are")
	case mount.Data.Type != "" && mount.Data.Type != "kv" && mount.Data.Type != "generic" && mount.Data.Type != "cubbyhole":
		return nil, errors.New("the engine for this path keeps no keys and values; name one of the type kv")
	case mount.Data.Options["version"] == "2":
		return c.readAt(ctx, name+"/data/"+rest, 2)
	}
	return c.readAt(ctx, path, 1)
}

func (c *vaultClient) readAt(ctx context.Context, path string, version int) (map[string]json.RawMessage, error) {
	var got struct {
		Data json.RawMessage `json:"data"`
	}
	err := c.get(ctx, escapePath(path), &got)
	var status statusError
	if errors.As(err, &status) && status == 404 {
		return nil, errors.New("there is no secret at this path, or its last version was deleted; vault kv list shows what there is")
	}
	if err != nil {
		return nil, err
	}
	if version == 2 {
		var inner struct {
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal(got.Data, &inner) != nil {
			return nil, errNotVault
		}
		got.Data = inner.Data
	}
	var holds map[string]json.RawMessage
	if json.Unmarshal(got.Data, &holds) != nil || holds == nil {
		return nil, errNotVault
	}
	return holds, nil
}

var errNotVault = errors.New("what answers is not Vault; see that VAULT_ADDR leads to it")

func escapePath(path string) string {
	steps := strings.Split(path, "/")
	for i, step := range steps {
		steps[i] = url.PathEscape(step)
	}
	return strings.Join(steps, "/")
}

// statusError is an HTTP status that says no.
type statusError int

// statusOf is the error of a status. With some the Vault says that it cannot answer now.
func statusOf(status int) error {
	switch {
	case status >= 500, status == 412, status == 429, status == 472, status == 473:
		return down(statusError(status))
	}
	return statusError(status)
}

func (e statusError) Error() string {
	switch e {
	case 400:
		return "the Vault does not take the question (400); see that VAULT_NAMESPACE and the path are right"
	case 401, 403:
		return "the Vault says no (403): the token has expired, or its policies do not let it read this path; vault token lookup tells"
	case 404:
		return "the Vault has nothing there (404)"
	case 412, 429, 472, 473:
		return fmt.Sprintf("the Vault cannot answer now (%d); try again, or set VAULT_ADDR to the node that is active", int(e))
	case 503:
		return "the Vault is sealed or being looked after (503); unseal it, and try again"
	}
	return fmt.Sprintf("the Vault answers with the HTTP status %d; its log says why", int(e))
}
