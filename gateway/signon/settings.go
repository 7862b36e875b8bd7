package signon

import (
	"fmt"
	"log/slog"
)

// Type is a way to come by the credentials of a caller.
type Type string

// The types.
const (
	Own        Type = ""           // the gateway's own credentials, as the entry says
	Login      Type = "login"      // each caller signs in at the server
	Exchange   Type = "exchange"   // the token of the caller is exchanged for one for the server; RFC 8693
	Enterprise Type = "enterprise" // the token of the caller is exchanged for a statement that the server's authorization server takes
)

// Settings are what the gateway's file says of the credentials for one server.
type Settings struct {
	Type Type

	Issuer   string // of the authorization server that exchanges tokens
	TokenURL string // where it does; "" where its metadata say it

	ClientID, ClientSecret string   // of the gateway, there
	Audience               []string // names of the server, there
	NoResource             bool     // the address of the server is not sent as the resource
	Scopes                 []string // to ask for
	SubjectType            string   // of the tokens of callers; "" for access tokens
}

var (
	_ fmt.GoStringer = Settings{}
	_ slog.LogValuer = Settings{}
)

// Personal tells whether each caller has credentials of its own.
func (s Settings) Personal() bool { return s.Type != Own }

// Exchanges tells whether the token of a caller is exchanged.
func (s Settings) Exchanges() bool { return s.Type == Exchange || s.Type == Enterprise }

// String shows the type and the client, and no secret; so do GoString and LogValue.
func (s Settings) String() string { return fmt.Sprintf("%s as %q", s.Type, s.ClientID) }

// GoString is String, for %#v.
func (s Settings) GoString() string { return s.String() }

// LogValue is String, for package slog.
func (s Settings) LogValue() slog.Value { return slog.StringValue(s.String()) }
