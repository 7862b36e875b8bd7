package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Device is the login of a person on another device: for programs without a browser at hand. RFC 8628.
type Device struct {
	// Show tells the person where to go and what to type there. It returns at once.
	Show func(ctx context.Context, prompt DevicePrompt) error
}

// DevicePrompt is what a person needs for the login on another device.
type DevicePrompt struct {
	Page     string        // where to go
	Code     string        // what to type there; it prints, and is no longer than 64 bytes
	Complete string        // the page with the code already in it, for a link or a QR code; may be empty
	Life     time.Duration // how long the code is good
}

func (d Device) check(Options) error {
	if d.Show == nil {
		return errors.New("oauth: Device.Show is missing: it tells the person where to go")
	}
	return nil
}

func (Device) interactive() bool { return true }
func (Device) grants() []string  { return []string{grantDevice, grantRefresh} }

// deviceCode is what begins the flow. RFC 8628, section 3.2.
type deviceCode struct {
	Device   string         `json:"device_code"`
	User     string         `json:"user_code"`
	Page     string         `json:"verification_uri"`
	Complete string         `json:"verification_uri_complete"`
	Expires  jsontext.Value `json:"expires_in"`
	Interval jsontext.Value `json:"interval"`
}

func (d Device) run(ctx context.Context, v *visit) (*answer, string, error) {
	if v.server.Device == "" {
		return nil, "", errors.New("the authorization server has no login by another device")
	}
	who, err := v.client(ctx, "")
	if err != nil {
		return nil, "", err
	}
	code, err := v.deviceCode(ctx, who)
	if err != nil {
		return nil, "", err
	}
	life, ok := (&answer{Expires: code.Expires}).life()
	if !ok {
		life = 5 * time.Minute
	}
	if err := d.Show(ctx, DevicePrompt{Page: code.Page, Code: code.User, Complete: code.Complete, Life: life}); err != nil {
		return nil, "", fmt.Errorf("show the code of the login: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	got, err := v.poll(ctx, who, code)
	return got, who.ClientID, err
}

func (v *visit) deviceCode(ctx context.Context, who Credentials) (*deviceCode, error) {
	form, header := v.withScope(url.Values{"resource": {v.resource}, "client_id": {who.ClientID}}), http.Header{}
	if err := who.authenticate(v.a.now(), v.server, header, form); err != nil {
		return nil, err
	}
	to := v.server.Device
	resp, err := v.a.web.post(ctx, endpoint{url: to}, "application/x-www-form-urlencoded", form.Encode(), header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plain(to), err)
	}
	if resp.refuses() {
		return nil, refused(to, resp, secretsOf(form, header, who)...)
	}
	var code deviceCode
	if err := readObject(resp.body, &code); err != nil {
		return nil, fmt.Errorf("%s: %w", plain(to), err)
	}
	if code.Device == "" || code.User == "" || code.Page == "" {
		return nil, fmt.Errorf("%s gave no code for another device", plain(to))
	}
	if len(code.User) > 64 || strings.ContainsFunc(code.User, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, fmt.Errorf("%s gave a code that nobody can type", plain(to)) // and that a terminal might obey
	}
	for _, page := range []*string{&code.Page, &code.Complete} {
		u, err := url.Parse(*page)
		if err == nil && *page != "" {
			err = v.a.web.guard.permits(ctx, u)
		}
		if err != nil {
			return nil, fmt.Errorf("show the page for logins at %s: %w", plain(*page), err)
		}
		*page = printable(u)
	}
	return &code, nil
}

// printable is an address in letters that every terminal prints as they are; whatever else is in it is escaped.
func printable(u *url.URL) string {
	var b strings.Builder
	for _, c := range []byte(u.String()) { // which has no control characters of ASCII
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// poll asks for the token until the person has decided. A server that is away for a moment is asked again, ever more
// slowly. RFC 8628, sections 3.4 and 3.5.
func (v *visit) poll(ctx context.Context, who Credentials, code *deviceCode) (*answer, error) {
	wait, ok := (&answer{Expires: code.Interval}).life()
	if !ok {
		wait = 5 * time.Second
	}
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("nobody finished the login in time: %w", ErrLoginNeeded)
		}
		got, err := v.ask(ctx, v.tokenEndpoint(), who, v.form(grantDevice, url.Values{"device_code": {code.Device}}))
		switch {
		case err == nil:
			return got, nil
		case hasCode(err, "authorization_pending"), ctx.Err() != nil:
		case hasCode(err, "slow_down"):
			wait += 5 * time.Second
		case transient(err):
			wait = min(2*wait, time.Minute)
		default:
			return nil, err
		}
	}
}
