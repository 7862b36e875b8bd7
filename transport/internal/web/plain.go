package web

import (
	"net/http"
	"slices"
	"strings"
)

var textType = []string{"text/plain; charset=utf-8"} // net/http copies it before it writes

// Plain answers with a line of text: for what is refused before there is JSON-RPC.
func Plain(w http.ResponseWriter, code int, text string) {
	w.Header()["Content-Type"] = textType
	w.WriteHeader(code)
	w.Write([]byte(text + "\n"))
}

// Answers tells whether a request has one of the methods that are answered here; the others get 405.
func Answers(w http.ResponseWriter, r *http.Request, methods []string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	allow := strings.Join(methods, ", ")
	w.Header()["Allow"] = []string{allow}
	Plain(w, http.StatusMethodNotAllowed, "this address answers "+allow+" only")
	return false
}

// Passes tells whether a check of a request found nothing; else the client gets 403 and the text of the error.
func Passes(w http.ResponseWriter, err error) bool {
	if err != nil {
		Plain(w, http.StatusForbidden, err.Error())
	}
	return err == nil
}
