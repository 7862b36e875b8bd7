// Package cases holds what other implementations got wrong in the field, each as a test against this one: over the real
// wire, with requests that the test writes itself byte by byte, so that no client of ours can hide a fault.
//
// The name of a test carries the number of its case (TestC021RefusedRequestsMakeNoSession), and its comment says what went
// wrong elsewhere. Some cases are held by tests of the package they concern; TestEveryCase knows all the numbers and fails
// when no test in the tree carries one. The package has no code of its own.
package cases
