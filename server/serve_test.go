package server

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// No option of HTTPOptions is forgotten on its way to the wire.
func TestHTTPOptionsArrive(t *testing.T) {
	all := HTTPOptions{
		AllowedHosts: []string{"a"}, AllowedOrigins: []string{"http://a"}, Guard: streamhttp.NewGuard(nil, nil),
		SecurityValidator: func(*http.Request) error { return nil }, Principal: func(*http.Request) *mcp.Principal { return nil },
		Sessionless: true, JSONOnly: true, MaxBodyBytes: 1, UpgradeAfter: time.Second, KeepAlive: time.Second,
		IdleTimeout: time.Second, MaxSessions: 1, MaxStreams: 1, BodyTimeout: time.Second, WriteTimeout: time.Second, NoHijack: true,
		EventLog: state.NewMemoryLog(state.LogLimits{}), NoResume: true, Sessions: state.NewMemorySessions(state.SessionLimits{}),
	}
	from, to := reflect.ValueOf(all), reflect.ValueOf(all.binding())
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		if from.Field(i).IsZero() {
			t.Errorf("%s is new: give it a value here", name)
		}
		if there := to.FieldByName(name); !there.IsValid() || there.IsZero() {
			t.Errorf("%s does not arrive", name)
		}
	}
}
