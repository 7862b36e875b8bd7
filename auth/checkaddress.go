package auth

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// CheckAddress returns what is wrong with the address of something that tokens are made for, or that is believed for what it says:
// a resource, an issuer. It has the form https://host/path, with http on this machine, and neither query nor fragment. The error
// says what to write instead and does not repeat the address, which may hold a secret. It is nil where nothing is wrong.
func CheckAddress(address string) error {
	if strings.ContainsAny(address, "?#") {
		return errors.New("this must be an address without query and fragment, such as https://mcp.example.com/mcp")
	}
	return CheckEndpoint(address)
}

// CheckEndpoint is CheckAddress for addresses that are only asked and name nothing, such as that of a key set: they may have a query.
func CheckEndpoint(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || strings.Contains(address, "#"):
		return errors.New("this must be an address such as https://mcp.example.com/mcp")
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return errors.New("the address must begin with https:// unless it is on this machine: tokens travel there, or are believed for what it says")
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
