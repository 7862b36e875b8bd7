// Command features checks docs/features.md against what a test run saw: each test a row names must have run and passed.
//
//	go test -json work > run.json
//	go run ./internal/house/features -json run.json
//
// -json may be given several times, where a run is split into parts; -page names another page. The exit code is 0 when
// every row stands, 1 when one does not, 2 when a file cannot be read.
package main
