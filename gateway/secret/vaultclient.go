package secret

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

const (
	longestAnswer = 10 * time.Second // of one request
	largestAnswer = 1 << 20          // bytes
	mostRedirects = 3
)

// vaultClient speaks to one Vault.
type vaultClient struct {
	address   *url.URL
	token     string
	namespace string
	http      *http.Client
}

// openVault reads where Vault is and who asks.
func openVault(o Options) (*vaultClient, error) {
	text := o.variable("VAULT_ADDR")
	if text == "" {
		return nil, errors.New("where Vault is has to be said; set VAULT_ADDR, to https://vault.example:8200 for example")
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Hostname() == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return nil, errors.New("VAULT_ADDR must be an address such as https://vault.example:8200")
	}
	c := &vaultClient{address: address, namespace: o.variable("VAULT_NAMESPACE")}
	if c.token, err = o.vaultToken(); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.token+c.namespace, func(r rune) bool { return r < '!' || r > '~' }) {
		return nil, errors.New("VAULT_TOKEN and VAULT_NAMESPACE must be of printable characters without spaces; see that they were copied as a whole, and nothing else with them")
	}
	if address.Scheme == "http" && !isLoopback(address.Hostname()) {
		o.Warn("VAULT_ADDR begins with http://, so the token of Vault and what it answers are sent for everybody on the way to read; https:// keeps them secret")
	}
	wire := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: longestAnswer, MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives: true, // a few requests in a long life
	}
	if file := o.variable("VAULT_CACERT"); file != "" {
		if wire.TLSClientConfig.RootCAs, err = roots(o.path(file)); err != nil {
			return nil, err
		}
	}
	c.http = &http.Client{Transport: wire, Timeout: longestAnswer, CheckRedirect: sameHost}
	return c, nil
}

func (o Options) variable(name string) string {
	value, _ := o.Lookup(name)
	return strings.TrimSpace(value)
}

func (o Options) vaultToken() (string, error) {
	if token := o.variable("VAULT_TOKEN"); token != "" {
		return token, nil
	}
	file := o.variable("VAULT_TOKEN_FILE")
	if file == "" {
		return "", errors.New("the Vault has to know who asks; set VAULT_TOKEN, or VAULT_TOKEN_FILE to the path of a file with the token")
	}
	token, err := readFile(o.path(file), o.Warn)
	if err != nil {
		return "", fmt.Errorf("VAULT_TOKEN_FILE: %w", err)
	}
	return strings.TrimSpace(token), nil
}

func roots(file string) (*x509.CertPool, error) {
	pem, err := readFile(file, func(string) {}) // certificates are no secrets
	if err != nil {
		return nil, fmt.Errorf("VAULT_CACERT: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, errors.New("VAULT_CACERT: the file holds no certificate; name one in the PEM form")
	}
	return pool, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var errElsewhere = errors.New("the Vault sends elsewhere, where the token must not go; set VAULT_ADDR to the address of the node that is active")

// sameHost lets redirects pass that stay where the token belongs: net/http would send the header of the token along to any host.
func sameHost(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return errElsewhere
	}
	if len(via) > mostRedirects {
		return errors.New("the Vault sends from one address to the next without an end; see that VAULT_ADDR is right")
	}
	return nil
}

// get asks for what is at a path that has been escaped. A status that says no is a statusError. What Vault says beside it is
// not told: it may say again what it was asked with.
func (c *vaultClient) get(ctx context.Context, path string, into any) error {
	address := strings.TrimSuffix(c.address.String(), "/") + "/v1/" + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("VAULT_ADDR must be an address such as https://vault.example:8200")
	}
	req.Header.Set("X-Vault-Token", c.token)
	req.Header.Set("X-Vault-Request", "true") // agents of Vault refuse requests without it
	if c.namespace != "" {
		req.Header.Set("X-Vault-Namespace", c.namespace)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return c.unreached(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read only
	if answer.StatusCode != http.StatusOK {
		return statusOf(answer.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, largestAnswer+1))
	switch {
	case err != nil:
		return c.unreached(err)
	case len(body) > largestAnswer:
		return errors.New("the Vault has answered with more than 1 MiB; see that VAULT_ADDR leads to it")
	case json.NewDecoder(bytes.NewReader(body)).Decode(into) != nil:
		return errNotVault
	}
	return nil
}

// unreached says why there is no answer, without the address: its path may be a name that is nobody's business in a log.
func (c *vaultClient) unreached(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Timeout() {
			return down(fmt.Errorf("the Vault has not answered within %s; see that VAULT_ADDR leads to it", longestAnswer))
		}
		err = of.Err
	}
	if errors.Is(err, errElsewhere) {
		return errElsewhere
	}
	why := strings.ReplaceAll(err.Error(), c.token, "***") // what is no HTTP is quoted, and may repeat what was sent
	return down(fmt.Errorf("the Vault cannot be reached: %s; see that it runs and that VAULT_ADDR leads to it", why))
}

// down says that nothing is known of what a store holds.
func down(err error) error { return &manager.StoreDownError{Err: err} }
