// Package examples holds small programs, each to be read in one go: hello, weather, server-notes and booking are servers, the
// last one asks its clients; ask is a client, and gateway is a configuration for rialto. Each is compiled and run by its tests, and so is the code on the pages of the
// guide, which is taken from here.
package examples
