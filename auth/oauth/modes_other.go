//go:build !unix

package oauth

// hasModes: who may read a file is not said by its mode.
const hasModes = false
