// Package vendors has the official clients of model vendors read what package llm writes, and talk to the endpoints of
// llm/llmtest. It is tests alone, and apart from the other peers since these clients take long to compile.
package vendors
