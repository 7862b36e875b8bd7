// Command rialto is a gateway for the Model Context Protocol, and a client of it for people and scripts.
//
//	rialto gateway [--config FILE] [--listen ADDR] [--stdio] [--no-watch]
//	rialto check [FILE] [--connect]
//	rialto discover|tools|resources|prompts TARGET
//	rialto call TARGET TOOL [key=value | key:=json ...]
//	rialto read TARGET URI
//	rialto prompt TARGET NAME [key=value ...]
//
// TARGET is a URL or the name of a server in the configuration file (--config, or mcp.json or .mcp.json in the current
// folder). To start a server and talk to it, leave TARGET out and put the command at the end, behind "--":
//
//	rialto call echo text=hello -- npx -y some-server
//
// Exit codes: 0 done, 1 usage or configuration, 3 authorization needed, 4 the server cannot be reached, 5 the tool or the
// server answered with an error, 130 interrupted. With --json standard output holds data only, and an error is one line of
// JSON on standard error.
package main
