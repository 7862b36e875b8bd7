//go:build unix

package oauth

// hasModes: files have a mode that says who may read them.
const hasModes = true
