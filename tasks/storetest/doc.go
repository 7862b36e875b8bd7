// Package storetest holds what every tasks.Store has to keep. A new store calls [Run] in a test of its own.
package storetest
