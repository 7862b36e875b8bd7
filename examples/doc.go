// Package examples holds small programs, each to be read in one go: hello and weather are servers, ask is a client, and
// gateway is a configuration for rialto. Each is compiled and run by its tests, and so is the code on the pages of the
// guide, which is taken from here.
package examples
