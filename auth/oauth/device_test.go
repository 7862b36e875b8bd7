package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

func deviceScene(t *testing.T, prompts *[]DevicePrompt) *scene {
	s := newScene(t)
	s.as.metadata = map[string]any{"code_challenge_methods_supported": nil}
	s.opts.LoginTimeout = 20 * time.Minute
	s.opts.Flow = Device{Show: func(_ context.Context, p DevicePrompt) error {
		*prompts = append(*prompts, p)
		return nil
	}}
	return s
}

func TestDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prompts []DevicePrompt
		s := deviceScene(t, &prompts)
		s.as.pending = 3
		began := time.Now()
		a := s.authorizer()
		must(t, a)
		equal(t, "time", time.Since(began), 8*time.Second)
		equal(t, "prompts", len(prompts), 1)
		equal(t, "prompt", prompts[0], DevicePrompt{Page: "https://as.test/go", Code: "ABCD-EFGH", Life: 10 * time.Minute})
		form := s.as.last(grantDevice)
		equal(t, "code", form.Get("device_code"), "device-secret")
		equal(t, "resource", form.Get("resource"), "https://mcp.test/mcp")
		a.Close()
	})
}

func TestDevicePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prompts []DevicePrompt
		s := deviceScene(t, &prompts)
		var at []time.Duration
		began := time.Now()
		answers := []struct {
			status int
			code   string
		}{{400, "slow_down"}, {503, ""}, {400, "authorization_pending"}}
		s.as.token = func(url.Values, *http.Request) (int, map[string]any) {
			at = append(at, time.Since(began))
			if n := len(at); n <= len(answers) {
				return answers[n-1].status, map[string]any{"error": answers[n-1].code}
			}
			return 0, nil
		}
		a := s.authorizer()
		must(t, a)
		want := []time.Duration{2, 9, 23, 37} // 2; 2+5; twice as long; the same
		for i, d := range want {
			equal(t, "time of a question", at[i], d*time.Second)
		}
		a.Close()
	})
}

func TestDeviceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		is   error
		want string
	}{
		"refused":     {"access_denied", nil, "access_denied"},
		"expired":     {"expired_token", nil, "expired_token"},
		"nobody came": {"authorization_pending", ErrLoginNeeded, "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var prompts []DevicePrompt
				s := deviceScene(t, &prompts)
				s.as.token = func(url.Values, *http.Request) (int, map[string]any) { return 400, map[string]any{"error": c.code} }
				a := s.authorizer()
				if err := fails(t, a, c.want); c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("error %v", err)
				}
				a.Close()
			})
		})
	}
	t.Run("not offered", func(t *testing.T) {
		var prompts []DevicePrompt
		s := deviceScene(t, &prompts)
		s.as.metadata["device_authorization_endpoint"] = nil
		fails(t, s.authorizer(), "no login by another device")
	})
}
