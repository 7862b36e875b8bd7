// Package house holds the rules of the tree as tests: which package may import which, which modules the library may
// require, and what must not stand in any file. It has no code of its own. A test that fails here names the file, the
// rule and the way out.
//
// Two programs live below it: features checks docs/features.md against a test run, and testlog turns the JSON of a test
// run into something a person can read while it is kept in a file.
package house
