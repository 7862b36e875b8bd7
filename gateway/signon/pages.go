package signon

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// The pages that callers see in their browsers, beside the endpoint of the gateway.
const (
	PagesPath    = "/signin/" // where Desk.Pages are served
	pagePath     = PagesPath
	callbackPath = PagesPath + "callback"

	cookiePrefix = "rialto_signin_" // and the beginning of an id: one browser may be at several logins
	finishTime   = 30 * time.Second // that an authorization server may take for the last step
)

// Pages serves what a caller sees who signs in. A browser that opens the address which a client shows is told who signs in where,
// and goes on to the authorization server after a yes; only that browser can come back from there. The pages need no token: who
// has the address is let in, and addresses are unguessable, good for one login, and for five minutes.
func (d *Desk) Pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, d.callback)
	mux.HandleFunc("GET "+pagePath+"{id}", d.ask)
	mux.HandleFunc("POST "+pagePath+"{id}", d.agreed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		mux.ServeHTTP(w, r)
	})
}

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Title}}</title><style>body{font:1.1em sans-serif;max-width:34em;margin:4em auto;padding:0 1em;line-height:1.5}button{font:inherit;padding:.4em 1em}</style></head>
<body><h1>{{.Title}}</h1><p>{{.Text}}</p>
{{if .Token}}<p>You are about to sign in for the caller <strong>{{.Who}}</strong> of this gateway. What you allow there, this caller may do through the gateway.
Go on only if that is you, and if you have asked for it just now.</p>
<form method="post"><input type="hidden" name="token" value="{{.Token}}"><button>Sign in</button></form>{{end}}
</body></html>
`))

type pageData struct{ Title, Text, Who, Token string }

func show(w http.ResponseWriter, status int, data pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, data) // a reader that has gone needs no page
}

func over(w http.ResponseWriter) {
	show(w, http.StatusNotFound, pageData{Title: "This login is over", Text: "Go back to your program and begin again there, if you still want to sign in."})
}

// visitOf finds the login that a page belongs to, once it is known where the browser goes from there.
func (d *Desk) visitOf(r *http.Request) *visit {
	d.logins.mu.Lock()
	defer d.logins.mu.Unlock()
	v := d.logins.byID[r.PathValue("id")]
	if v == nil || v.page == "" {
		return nil
	}
	return v
}

// ask shows who is about to sign in where.
func (d *Desk) ask(w http.ResponseWriter, r *http.Request) {
	v := d.visitOf(r)
	if v == nil {
		over(w)
		return
	}
	token := rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: v.cookieName(), Value: token, Path: pathOf(d.opts.Back()) + strings.TrimSuffix(PagesPath, "/"), MaxAge: int(loginTime / time.Second),
		HttpOnly: true, Secure: strings.HasPrefix(d.opts.Back(), "https://"), SameSite: http.SameSiteLaxMode,
	})
	show(w, http.StatusOK, pageData{Title: "Sign in at " + v.server.Name, Text: "A program that uses this gateway wants to use the server " + v.server.Name + " for you.", Who: whose(v.owner.Principal), Token: token})
}

// agreed takes the yes of a person, and sends the browser on. It must come from the page itself: it says what the cookie says.
func (d *Desk) agreed(w http.ResponseWriter, r *http.Request) {
	v := d.visitOf(r)
	if v == nil {
		over(w)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	cookie, err := r.Cookie(v.cookieName())
	if err != nil || !same(r.PostFormValue("token"), cookie.Value) || len(cookie.Value) < len(rand.Text()) {
		show(w, http.StatusForbidden, pageData{Title: "That did not work", Text: "Allow cookies for this page, open it again and press the button there."})
		return
	}
	d.logins.mu.Lock()
	v.cookie = cookie.Value
	to := v.page
	d.logins.mu.Unlock()
	w.Header().Del("Content-Security-Policy") // some browsers hold redirects of forms to it
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// callback takes up a browser that comes back from the authorization server. What it brings is judged by the flow; that it is
// the browser of the login, here.
func (d *Desk) callback(w http.ResponseWriter, r *http.Request) {
	state := r.URL.Query().Get("state")
	d.logins.mu.Lock()
	v := d.logins.byState[state]
	if v == nil || state == "" || !v.isIn(r) {
		d.logins.mu.Unlock()
		over(w)
		return
	}
	delete(d.logins.byState, state) // good once
	d.logins.mu.Unlock()
	v.back <- r.URL.String()
	timer := time.NewTimer(finishTime)
	defer timer.Stop()
	select {
	case <-v.done:
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	select {
	case <-v.done:
	default:
		show(w, http.StatusAccepted, pageData{Title: "Almost there", Text: "The authorization server takes its time. You can close this page."})
		return
	}
	if v.err != nil {
		d.opts.Logger.Warn("a caller could not sign in: "+reason(v), "server", v.server.Name)
		show(w, http.StatusBadGateway, pageData{Title: "That did not work", Text: "The server " + v.server.Name + " did not let you in. Begin again in your program."})
		return
	}
	show(w, http.StatusOK, pageData{Title: "You are signed in", Text: "Go back to your program. You can close this page."})
}

// cookieName is that of the cookie of a login.
func (v *visit) cookieName() string { return cookiePrefix + v.id[:8] }

// isIn tells whether a request comes from the browser in which the caller has said yes. The lock of logins is held.
func (v *visit) isIn(r *http.Request) bool {
	cookie, err := r.Cookie(v.cookieName())
	return err == nil && v.cookie != "" && same(v.cookie, cookie.Value)
}

// whose names a caller for people. Callers of two issuers may have one name, so that the issuer is told where there is one; what
// does not print, or turns the direction of a line, is left out.
func whose(who *mcp.Principal) string {
	name := cmp.Or(who.Subject, who.ClientID)
	if who.ClientID != "" && who.Subject != "" {
		name += " with the program " + who.ClientID
	}
	if who.Issuer != "" {
		name += ", known to " + who.Issuer
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
}

// pathOf is the path of an address.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

// reason says why a login has failed, for the log.
func reason(v *visit) string { return manager.Reason(v.server, v.err) }

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
