package client

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The limits that hold when nothing is said, as docs/limits.md has them; a negative one is lifted.
func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	lifted := Options{ConnectTimeout: -1, ProbeTimeout: -1, CallTimeout: -1, TotalTimeout: -1, ListTimeout: -1}.withDefaults()
	for name, d := range map[string][3]time.Duration{
		"ConnectTimeout": {o.ConnectTimeout, 15 * time.Second, lifted.ConnectTimeout},
		"ProbeTimeout":   {o.ProbeTimeout, 2 * time.Second, lifted.ProbeTimeout},
		"CallTimeout":    {o.CallTimeout, time.Minute, lifted.CallTimeout},
		"TotalTimeout":   {o.TotalTimeout, 10 * time.Minute, lifted.TotalTimeout},
		"ListTimeout":    {o.ListTimeout, 30 * time.Second, lifted.ListTimeout},
	} {
		if d[0] != d[1] || d[2] != 0 {
			t.Errorf("%s: got %s and lifted %s, want %s and 0", name, d[0], d[2], d[1])
		}
	}
	if o.MaxPages != 256 || o.MaxInputRounds != 10 {
		t.Errorf("MaxPages: got %d, MaxInputRounds: %d", o.MaxPages, o.MaxInputRounds)
	}
}

// A fault goes to the hook and to the logger, whichever there is.
func TestFaultsAreTold(t *testing.T) {
	var log bytes.Buffer
	var heard []string
	hook, logger := func(err error) { heard = append(heard, err.Error()) }, slog.New(slog.NewTextHandler(&log, nil))
	for _, o := range []Options{{}, {OnError: hook}, {Logger: logger}, {OnError: hook, Logger: logger}} {
		o.withDefaults().OnError(errors.New("odd frame"))
	}
	if len(heard) != 2 || strings.Count(log.String(), "odd frame") != 2 {
		t.Errorf("the hook heard %q, the log holds %s", heard, log.String())
	}
}
