// Package config reads the gateway's configuration: the servers, read by package manager, and the gateway's own
// section, which stands in the same file under the key "gateway". All of the section may be left out:
//
//	{
//	  "gateway": {
//	    "listen": "127.0.0.1:8421",      // host:port
//	    "path": "/mcp",                  // of the endpoint
//	    "allowedHosts": ["mcp.example"], // Host headers beside the loopback names
//	    "allowedOrigins": [],            // Origin headers, such as https://app.example
//	    "insecure": false,               // true: everybody may call, also from other machines
//	    "auth": null,                    // who may call; see below
//	    "prefix": "collision",           // or always, never: when names get the prefix of their server
//	    "separator": "__",               // between prefix and name
//	    "maxNameLength": 0,              // of every tool and prompt name; 0 changes only what must be changed
//	    "connectTimeout": "15s",
//	    "listTimeout": "30s",
//	    "callTimeout": "1m",             // without a sign of life
//	    "totalTimeout": "10m",           // of one call, whatever happens
//	    "startWait": "5s",               // of a request, at most, for servers that have not been tried yet
//	    "pool": {"most": 1000, "mostPerServer": 100, "callerShare": 50, "idle": "5m"}, // connections that belong to single callers
//	    "pageSize": 1000,                // entries of one page of a list
//	    "requireAll": false,             // true: do not start unless every server answers
//	    "stateKeys": [],                 // ["${KEY}"]: secrets that seal ids of tasks, so that they are good after a restart
//	    "secrets": {"op": ["op", "read", "op://{ref}"]}, // programs that print what ${op:REF} stands for
//	    "onDown": "keep",                // or hide, fail: what is listed of a server that is down
//	    "audit": null,                   // {"file": "audit.jsonl"}: a line for each request; see below
//	    "policy": {"rules": [], "default": "allow", "rateLimits": [], "ask": {}, "pin": null, "scan": {"do": "warn"}, "redact": []}, // see package policy
//	    "roots": null,                   // ["file:///srv/notes"]: folders for servers that ask outside of calls; null tells of none
//	    "extensions": [],                // identifiers such as com.example/x that are passed on as declarations
//	    "serveAll": true,                // false: the endpoint serves nothing, and there are only the bundles
//	    "bundles": {"dev": {"servers": ["issues"], "tools": ["issues/list_*"], "prefix": "never"}}, // at /mcp/dev
//	    "search": null,                  // {"above": 100, "tokens": 20000, "always": ["issues/*"]}: a search in place of long lists
//	    "servers": {
//	      "issues": {
//	        "alias": "i",
//	        "trustHints": false,  // true: its tools may be called again where they say that this does no harm
//	        "required": false,    // true: the gateway does not start without it, and is not ready
//	        "share": "principal", // or all, session: who is on one connection; left out, whatever is safe
//	        "auth": {             // each caller has credentials of its own there; type is login, exchange or enterprise
//	          "type": "exchange", "issuer": "https://login.example", "clientId": "gateway", "clientSecret": "${SECRET}", "audience": "issues"},
//	        "roots": [],          // in place of those of the gateway
//	        "tools": {"allow": ["list_*"], "deny": ["delete_*"], // what is shown; likewise prompts and resources
//	          "rename": {"list_all": "issues"},                  // likewise prompts
//	          "edit": {"list_all": {"title": "Issues", "description": "All of them", "arguments": {
//	            "token": {"value": "${TOKEN}"}, "page": {"default": 1}, "q": {"rename": "query"}, "debug": {"drop": true}}}}},
//	        "onDown": "keep"      // in place of that of the gateway
//	      }
//	    }
//	  },
//	  "mcpServers": {"issues": {"url": "https://issues.example/mcp"}}
//	}
//
// The section is strict: a key that is not known, or a value that cannot be used, is an error with its place. See
// package route for what prefix, separator, maxNameLength and alias do. The order is that of the normal form.
//
// The audit log has a line for each request that goes to a server or is refused:
//
//	"audit": {
//	  "file": "audit.jsonl",
//	  "arguments": "none",  // or digest, full
//	  "results": "none",
//	  "maxSize": "100MB",   // of the file, before it becomes audit.jsonl.1
//	  "keep": 10,           // of those
//	  "onFailure": "drop"   // or refuse: no call without a place for its line
//	}
//
// How a server is handled stands with it:
//
//	"servers": {
//	  "issues": {
//	    "breaker": {              // false sends every call
//	      "failures": 5,          // in a row; 0 counts only the rate
//	      "rate": 0.5,            // of failures, from "volume" calls in "window" on; 0 counts only those in a row
//	      "volume": 20, "window": "1m",
//	      "pause": "5s", "longestPause": "2m", // before a call may try whether it answers again
//	      "probes": 1             // that must succeed
//	    },
//	    "retry": {                // false repeats no call
//	      "attempts": 2,          // of a call that it has not taken, or that may be repeated
//	      "pause": "500ms", "longestPause": "1m" // before it is connected again
//	    },
//	    "maxInFlight": 4,         // calls at once; any number by default
//	    "queue": {"max": 100, "wait": "30s"}, // of the others; false lets none wait
//	    "health": {"every": "30s", "timeout": "5s", "failures": 3}, // nobody asks by default
//	    "cache": {          // false keeps nothing
//	      "max": "8MB",     // of what is kept of its resources
//	      "maxTTL": "24h",  // whatever it says
//	      "lists": "30s"    // that clients may keep its lists, where it does not say; nothing by default
//	    }
//	  }
//	}
//
// Who may call over HTTP stands under auth; without it everybody may who can reach the address. Texts of tokens have variables.
//
//	"auth": {
//	  "tokens": [                          // handed out by hand; Authorization: Bearer TOKEN
//	    {"name": "ann", "token": "${ANN_TOKEN}", "scopes": ["mcp"], "roles": ["ops"]},
//	    {"name": "ci", "sha256": "..."}    // the digest of a token, in place of it
//	  ],
//	  "resource": "https://mcp.example.com/mcp", // the public address, for which issuers make tokens
//	  "jwt": [{                            // one issuer or several
//	    "issuer": "https://login.example.com",
//	    "audience": "api://mcp",           // or a list; beside the resource
//	    "jwksUrl": "https://login.example.com/keys", // where its metadata do not say it
//	    "algorithms": ["ES256"],           // left out: all usual ones with public keys
//	    "rolesClaim": "groups",            // or a way through objects: realm_access.roles
//	    "requireType": false               // true: tokens of the type at+jwt alone
//	  }],
//	  "scopes": [],                        // that every caller needs
//	  "scopesSupported": [],               // for the metadata; left out: scopes
//	  "dpop": "off",                       // or optional, required
//	  "public": []                         // of /, /healthz and /readyz, what strangers may see in full
//	}
//
// [Config.Marshal] writes the normal form: every setting with its value, default or not, secrets masked. Two files
// that mean the same have the same normal form, and it can be read again.
package config
