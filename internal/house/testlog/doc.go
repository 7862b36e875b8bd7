// Command testlog keeps the JSON of a test run in a file and shows a person the run as it goes: one line for each
// package, and the output of the tests that failed or were skipped.
//
//	go test -json work | go run ./internal/house/testlog -o run.json
//
// Its exit code says only whether the log could be kept; whether the tests passed is the exit code of go test.
package main
