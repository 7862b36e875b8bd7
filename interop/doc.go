// Package interop holds what stands between Rialto and other people's MCP software in tests: client drivers on four other
// client libraries and on our own, and helpers that start other people's servers.
//
// # Drivers
//
// A [Driver] connects to a [Target] (an address, or a command to be spoken to over stdio), runs a [Plan] step by step
// and answers one [Report]. All drivers take the same plan and give the same report, so that one check fits them all:
//
//	typescript-1   official TypeScript SDK 1.x   legacy era          node/client1.mjs
//	typescript-2   official TypeScript SDK 2.x   finds the era       node/client2.mjs
//	go-sdk         official Go SDK               finds the era       gosdk.go
//	mcp-go         mcp-go                        finds the era       mcpgo.go
//	rialto         package client                finds the era       rialto.go
//
// Four of the libraries drive HTTP+SSE as well ([SSEDrivers]): node/sse1.mjs, gosdk.go, mcpgo.go and rialto.go.
//
// A result in a report is what the library handed to its caller, written as JSON. A library that does not know a
// member may have dropped it.
//
// # Peers
//
// [Everything], [Filesystem] and [Memo] are servers: two npm reference servers and node/server2.mjs, which is built on
// the official TypeScript SDK 2.x. [StartEverything], [StartEverythingSSE] and [StartMemo] run them over HTTP until the
// test ends. node/server1.mjs on the official TypeScript SDK 1.x, and two servers inside the tests on the official Go SDK and
// mcp-go, have the same content; our client drives them on each transport and in each era they have.
//
// Four servers ask our client before they answer: the reference server, node/asking2.mjs on the official TypeScript SDK 2.x,
// and two on the official Go SDK and mcp-go inside the tests. The program of examples/booking asks all clients, from several
// copies at once, and node/pages1.mjs, a client on the official TypeScript SDK 1.x, visits the pages our server sends it to.
//
// # Fronts
//
// A [Front] is anything that clients connect to, with a plan and a check. [RunFronts] drives each front with each
// driver. A gateway in front of the peers is one more front.
//
// # Our side
//
// Our own server of the same content as node/server2.mjs, and the gateway as a program with a configuration file, are
// fronts of the tests. The tests of shapes record what passes over HTTP while they run and hold our frames against those
// of the official SDK; nothing recorded is kept.
//
// # What must be installed
//
// Node 20 or newer and the packages of node/package-lock.json ("npm ci" in that folder). Where they are missing, tests
// that need them skip and say why; with RIALTO_REQUIRE_PEERS=1 in the environment they fail. The helpers find the
// folder node/ beside the working directory of a test in this package. They need a Unix system, since they end whole
// process groups.
package interop
