package upstream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// TestKeepsReadsOfOwners holds for whom the answer to a read is kept that came over the connection of a caller: for those who share
// that connection, and no other. What it was called with may allow less to the same person.
func TestKeepsReadsOfOwners(t *testing.T) {
	at := func(who, session string, scopes ...string) Call {
		c := reader(who, "memo://1")
		c.Caller.Session = session
		if c.Caller.Principal != nil {
			c.Caller.Principal.Scopes = scopes
		}
		return c
	}
	ann := at("ann", "s1", "read", "write")
	for name, tc := range map[string]struct {
		sharing Sharing
		hint    mcp.CacheHint
		next    Call
		kept    bool
	}{
		"the same caller":                     {Sharing{Personal: true, ByScopes: true}, forOne(time.Minute), at("ann", "s1", "write", "read"), true},
		"another session":                     {Sharing{Personal: true, ByScopes: true}, forOne(time.Minute), at("ann", "s2", "read", "write"), true},
		"fewer scopes":                        {Sharing{Personal: true, ByScopes: true}, forOne(time.Minute), at("ann", "s1", "read"), false},
		"fewer scopes that make no odds":      {Sharing{Personal: true}, forOne(time.Minute), at("ann", "s1", "read"), true},
		"another session of its own":          {Sharing{Share: ShareSession}, forOne(time.Minute), at("ann", "s2", "read", "write"), false},
		"somebody else":                       {Sharing{Personal: true}, forOne(time.Minute), at("bob", "s3"), false},
		"somebody else on one connection":     {Sharing{Share: ShareAll}, forOne(time.Minute), at("bob", "s3"), false},
		"nobody that is known":                {Sharing{Personal: true}, forOne(time.Minute), at("", "s3"), false},
		"somebody else, as the server allows": {Sharing{Personal: true, ByScopes: true}, forAll(time.Minute), at("bob", "s3"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shelves := shelved(newShelf(tc.hint), newShelf(tc.hint), newShelf(tc.hint))
				set, _ := begin(t, shelves, Options{Sharing: func(string) Sharing { return tc.sharing }})
				mustCall(t, set, ann)
				if got := mustCall(t, set, tc.next).Kept; got != tc.kept {
					t.Errorf("kept: %t, want %t", got, tc.kept)
				}
			})
		})
	}
}
