// Package demo holds the demonstration server that rialto serves when it is given no configuration: something of
// everything, so that the first command shows something.
package demo
