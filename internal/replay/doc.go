// Package replay lets a test hear what a handler does that one which is run again must not do. A server tells whoever stands
// in the context of a request; nobody stands there but in tests.
package replay
