package echo

import "net/http"

// HTTPClient returns the client that the other SDKs under measure are given: enough idle connections for 16 calls at once,
// since the default of two would measure dialling. The caller closes its idle connections.
func HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: 64, MaxIdleConnsPerHost: 64}}
}
