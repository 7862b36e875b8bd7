package policy

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Ask says what servers may ask of users, models and clients. The zero value lets them ask everything.
type Ask struct {
	All     Asking
	Servers map[string]Asking // in place of All, by the name of the server
}

// Asking is what one server may ask.
type Asking struct {
	NoForms    bool     // it may not have the user fill in forms
	NoPages    bool     // it may not send the user to pages
	Hosts      []string // of pages, names or "*.example.com"; they are https there, or http on this machine. None means all pages
	NoSampling bool     // it may not ask the model
	NoTools    bool     // it may not give the model tools
	NoContext  bool     // the model is not shown what other servers have given; the question is changed to say so
	MaxTokens  int      // of an answer of the model; a larger number is lowered. 0 means that any will do
	NoRoots    bool     // it is not told of the client's roots
	Named      bool     // what the user is shown begins with the server's name in brackets
}

func (a Ask) of(server string) Asking {
	if own, ok := a.Servers[server]; ok {
		return own
	}
	return a.All
}

// question decides one question. It returns the parameters that are passed on, or a refusal.
func (a Asking) question(server, method string, params json.RawMessage) (json.RawMessage, *mcp.Error) {
	refuse := func(what string) (json.RawMessage, *mcp.Error) {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "The policy of this gateway does not let server %q %s", server, what)
	}
	switch method {
	case mcp.MethodElicit:
		if mcp.ElicitMode(params) == mcp.ElicitModeURL {
			raw, _ := jsonrpc.Member(params, "url")
			address, _ := jsonrpc.Text(raw)
			switch {
			case a.NoPages:
				return refuse("send the user to pages")
			case !a.leadsTo(address):
				return refuse("send the user to this page")
			}
		} else if a.NoForms {
			return refuse("ask the user")
		}
		return a.named(server, params), nil
	case mcp.MethodCreateMessage:
		_, tools := jsonrpc.Member(params, "tools")
		switch {
		case a.NoSampling:
			return refuse("ask the model")
		case tools && a.NoTools:
			return refuse("give tools to the model")
		}
		return a.sampling(params), nil
	case mcp.MethodListRoots:
		if a.NoRoots {
			return refuse("see the client's roots")
		}
	}
	return params, nil
}

// leadsTo tells whether a page may be shown.
func (a Asking) leadsTo(address string) bool {
	if len(a.Hosts) == 0 {
		return true
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if u.Scheme != "https" && !(u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1")) {
		return false
	}
	return slices.ContainsFunc(a.Hosts, func(allowed string) bool {
		allowed = strings.ToLower(allowed)
		if suffix, any := strings.CutPrefix(allowed, "*"); any {
			return strings.HasSuffix(host, suffix) && host != suffix[1:]
		}
		return host == allowed
	})
}

// named puts the server's name before what the user is shown.
func (a Asking) named(server string, params json.RawMessage) json.RawMessage {
	if !a.Named {
		return params
	}
	raw, _ := jsonrpc.Member(params, "message")
	text, ok := jsonrpc.Text(raw)
	if !ok {
		return params
	}
	return jsonrpc.With(nil, params, "message", jsonrpc.AppendString(nil, "["+server+"] "+text))
}

// sampling lowers what a model is asked for to what it may be.
func (a Asking) sampling(params json.RawMessage) json.RawMessage {
	if most := strconv.Itoa(a.MaxTokens); a.MaxTokens > 0 {
		raw, _ := jsonrpc.Member(params, "maxTokens")
		if n, err := strconv.ParseFloat(string(raw), 64); err != nil || n > float64(a.MaxTokens) {
			params = jsonrpc.With(nil, params, "maxTokens", []byte(most))
		}
	}
	if raw, ok := jsonrpc.Member(params, "includeContext"); ok && a.NoContext && string(raw) != `"none"` {
		params = jsonrpc.With(nil, params, "includeContext", []byte(`"none"`))
	}
	return params
}

// capabilities are those of a client as a server is told of them: what the server may not ask, it need not try.
func (a Asking) capabilities(of json.RawMessage) json.RawMessage {
	if e, ok := jsonrpc.Member(of, "elicitation"); ok && (a.NoForms || a.NoPages) && jsonrpc.IsObject(e) {
		form, hasForm := jsonrpc.Member(e, "form")
		page, hasPage := jsonrpc.Member(e, "url")
		left := json.RawMessage("{}")
		if !hasForm && !hasPage { // as before there were pages
			form, hasForm = left, true
		}
		if hasForm = hasForm && !a.NoForms; hasForm {
			left = jsonrpc.With(nil, left, "form", form)
		}
		if hasPage = hasPage && !a.NoPages; hasPage {
			left = jsonrpc.With(nil, left, "url", page)
		}
		if of = jsonrpc.Without(of, "elicitation"); hasForm || hasPage {
			of = jsonrpc.With(nil, of, "elicitation", left)
		}
	}
	if s, ok := jsonrpc.Member(of, "sampling"); ok && (a.NoSampling || a.NoTools || a.NoContext) && jsonrpc.IsObject(s) {
		if a.NoTools {
			s = jsonrpc.Without(s, "tools")
		}
		if a.NoContext {
			s = jsonrpc.Without(s, "context")
		}
		if of = jsonrpc.Without(of, "sampling"); !a.NoSampling {
			of = jsonrpc.With(nil, of, "sampling", s)
		}
	}
	if a.NoRoots {
		of = jsonrpc.Without(of, "roots")
	}
	return of
}
