package signon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// ownerOf is the owner of a connection of a principal to a server where each has credentials of its own.
func ownerOf(t *testing.T, who mcp.Principal, session string) *upstream.Owner {
	t.Helper()
	set := upstream.New([]manager.Server{{Name: "office"}}, upstream.Options{
		Sharing: func(string) upstream.Sharing {
			return upstream.Sharing{Share: upstream.ShareSession, Personal: true}
		},
	})
	t.Cleanup(set.Close)
	return set.OwnerOf("office", &upstream.Caller{Principal: &who, Session: session})
}

// TestPageNamesTheCaller holds that the page says for whom somebody signs in so that a caller of one issuer, or of one program, is
// not taken for another one with the same name, and that no name is more than text on it.
func TestPageNamesTheCaller(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server string
		who    mcp.Principal
		want   string
	}{
		{"a token of the file", "office", mcp.Principal{Subject: "ann"}, "caller <strong>ann</strong>"},
		{"an issuer", "office", mcp.Principal{Issuer: "https://login.example", Subject: "ann"}, "caller <strong>ann, known to https://login.example</strong>"},
		{"a program of hers", "office", mcp.Principal{Issuer: "https://login.example", Subject: "ann", ClientID: "desk"},
			"caller <strong>ann with the program desk, known to https://login.example</strong>"},
		{"a program alone", "office", mcp.Principal{Issuer: "https://login.example", ClientID: "robot"}, "caller <strong>robot, known to https://login.example</strong>"},
		{"markup", "office", mcp.Principal{Subject: "</strong><script>alert(1)</script>"}, "&lt;/strong&gt;&lt;script&gt;"},
		{"markup in the name of the server", "<img src=x onerror=y>", mcp.Principal{Subject: "ann"}, "Sign in at &lt;img src=x"},
		{"a line that turns around", "office", mcp.Principal{Subject: "\u202enna\n\x1b"}, "caller <strong>nna</strong>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := New(Options{Back: func() string { return "https://gateway.example" }})
			v := &visit{id: "AAAABBBBCCCCDDDDEEEEFFFFGG", server: manager.Server{Name: tc.server}, owner: ownerOf(t, tc.who, ""), page: "https://login.example/authorize"}
			d.logins.byID = map[string]*visit{v.id: v}
			got := httptest.NewRecorder()
			d.Pages().ServeHTTP(got, httptest.NewRequest(http.MethodGet, PagesPath+v.id, http.NoBody))
			body := got.Body.String()
			if got.Code != http.StatusOK || !strings.Contains(body, tc.want) || strings.Contains(body, "<script") || strings.Contains(body, "<img") {
				t.Errorf("%d %s", got.Code, body)
			}
			cookie := got.Result().Cookies()
			if len(cookie) != 1 || !cookie[0].Secure || !cookie[0].HttpOnly || cookie[0].SameSite != http.SameSiteLaxMode || cookie[0].Path != "/signin" {
				t.Errorf("cookies %v", cookie)
			}
		})
	}
}

// TestLoginsOfOnePrincipal holds that one principal, by any number of sessions, does not take the places of all logins; and that the
// logins of who may not call any more are over.
func TestLoginsOfOnePrincipal(t *testing.T) {
	d := New(Options{Back: func() string { return "https://gateway.example" }})
	ann, bob := mcp.Principal{Subject: "ann"}, mcp.Principal{Subject: "bob"}
	silent := waiting(t)
	var anns []*visit
	for i := range mostOwn {
		v, err := d.logins.start(silent, ownerOf(t, ann, fmt.Sprint("s", i)))
		if err != nil {
			t.Fatal(err)
		}
		anns = append(anns, v)
	}
	if _, err := d.logins.start(silent, ownerOf(t, ann, "more")); err == nil || !strings.Contains(err.Error(), "100 logins of this caller are under way") {
		t.Errorf("one more of ann: %v", err)
	}
	bobs, err := d.logins.start(silent, ownerOf(t, bob, ""))
	if err != nil {
		t.Errorf("bob: %v", err)
	}
	d.Dismiss(func(who *mcp.Principal) bool { return who.Subject == "ann" })
	for _, v := range anns {
		<-v.done
	}
	select {
	case <-bobs.done:
		t.Errorf("the login of bob is over: %v", bobs.err)
	default:
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	<-bobs.done
}

// TestLoginsMoveWithTheGateway holds that a login whose browser would come back to where the gateway is no longer is given up when its
// caller asks again, and takes no other with it.
func TestLoginsMoveWithTheGateway(t *testing.T) {
	at := "https://gateway.example"
	d := New(Options{Back: func() string { return at }})
	silent, ann, bob := waiting(t), ownerOf(t, mcp.Principal{Subject: "ann"}, ""), ownerOf(t, mcp.Principal{Subject: "bob"}, "")
	start := func(owner *upstream.Owner) *visit {
		t.Helper()
		v, err := d.logins.start(silent, owner)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first, bobs := start(ann), start(bob)
	if again := start(ann); again != first {
		t.Error("a login is begun anew where nothing has moved")
	}
	at = "https://elsewhere.example"
	second := start(ann)
	if second == first || second.base != at {
		t.Errorf("the browser of ann comes back to %s", second.base)
	}
	<-first.done
	if again := start(ann); again != second {
		t.Error("the end of the first login takes the second along")
	}
	select {
	case <-bobs.done:
		t.Errorf("the login of bob is over: %v", bobs.err)
	default:
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	<-second.done
}

// waiting is a server that does not answer, until the test is over.
func waiting(t *testing.T) manager.Server {
	t.Helper()
	over := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() { close(over); web.Close() })
	return manager.Server{Name: "office", Transport: manager.HTTP, URL: web.URL}
}
