package openai

import (
	"encoding/base64"
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/portable"
)

// Chat is the profile of Chat Completions.
func Chat() llm.Profile {
	return llm.Profile{API: "openai chat", NameDigit: true, Dialect: portable.OpenAI, Strict: portable.OpenAIStrict, ToolsMax: 128}
}

// Responses is the profile of the Responses API.
func Responses() llm.Profile {
	p := Chat()
	p.API, p.IDMax = "openai responses", 64
	return p
}

// Compatible is the profile for endpoints of others: local servers, proxies, other vendors. It says only what all of them
// are known to take.
func Compatible() llm.Profile {
	return llm.Profile{API: compatible, Dialect: portable.Common, DescriptionMax: 1024, ToolsMax: 128}
}

const compatible = "openai compatible"

// encode writes a value with its members in order. The values here are all of a kind that has a JSON form; text that is
// not UTF-8 is repaired.
func encode(v any) json.RawMessage {
	raw, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("llm/openai: " + err.Error()) // a shape of this package that cannot be written
	}
	return raw
}

func dataURL(p llm.Part) string {
	return "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// errorMark stands before the text of a failed call, since these APIs have no member for it.
const errorMark = "Error: "

// withMark marks the first text of a failed result.
func withMark(r llm.Result) []llm.Part {
	if !r.IsError {
		return r.Parts
	}
	for i, p := range r.Parts {
		if p.Kind == llm.TextPart {
			marked := append([]llm.Part(nil), r.Parts...)
			marked[i].Text = errorMark + p.Text
			return marked
		}
	}
	return append([]llm.Part{{Kind: llm.TextPart, Text: errorMark + "the tool failed"}}, r.Parts...)
}

func isPicture(p llm.Part) bool {
	switch p.MIME {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return p.Kind == llm.ImagePart
	}
	return false
}

func isPDF(p llm.Part) bool { return p.MIME == "application/pdf" }

func fileName(p llm.Part) string {
	if p.Name != "" {
		return p.Name
	}
	return "data.pdf"
}
