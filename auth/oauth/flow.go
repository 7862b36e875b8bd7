package oauth

import (
	"context"
	"errors"
)

// Flow is a way to come by a token: one of Browser, Redirect, Device, ClientCredentials, Enterprise, Exchange, Workload and Stored.
type Flow interface {
	check(o Options) error
	interactive() bool // a person takes part
	grants() []string  // what a client has to be registered for
	run(ctx context.Context, v *visit) (got *answer, clientID string, err error)
}

var (
	_ Flow = Browser{}
	_ Flow = Redirect{}
	_ Flow = Device{}
	_ Flow = ClientCredentials{}
	_ Flow = Enterprise{}
	_ Flow = Workload{}
	_ Flow = Stored{}
)

// Stored uses and refreshes tokens that another program, or an earlier one, has stored, and never logs in. Where there is
// none, requests fail with ErrLoginNeeded.
type Stored struct{}

func (Stored) check(o Options) error { return nil }
func (Stored) interactive() bool     { return true }
func (Stored) grants() []string      { return nil }

func (Stored) run(context.Context, *visit) (*answer, string, error) {
	return nil, "", ErrLoginNeeded
}

const (
	grantCode      = "authorization_code"
	grantRefresh   = "refresh_token"
	grantClient    = "client_credentials"
	grantJWTBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantDevice    = "urn:ietf:params:oauth:grant-type:device_code"
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// needsCredentials is the check of flows whose client is always registered by hand.
func needsCredentials(o Options, flow string) error {
	if len(o.Credentials) == 0 && o.ClientMetadataURL == "" {
		return errors.New("oauth: the flow " + flow + " needs Options.Credentials")
	}
	return nil
}
