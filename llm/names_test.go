package llm_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
)

// alphabets is what names of each profile look like.
var alphabets = []struct {
	profile llm.Profile
	pattern *regexp.Regexp
	write   func(*llm.Set) json.RawMessage
}{
	{openai.Chat(), regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`), openai.ChatTools},
	{openai.Compatible(), regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`), openai.ChatTools},
	{openai.Responses(), regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`), openai.ResponseTools},
	{anthropic.Messages(), regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`), anthropic.Tools},
	{gemini.GenerateContent(), regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`), gemini.Tools},
	{gemini.Older(), regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`), gemini.Tools},
	{llm.Profile{NameMax: 16}, regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,15}$`), nil},
}

// hostileNames are names of servers that mean ill, or do not care.
var hostileNames = []string{
	"a", "A", "a.b", "a_b", "a b", "a-b", "a/b", "a\\b", "a\x00b", "a\nb", "a\x1b[2Jb", "a\u202eb", "a\u2066b", "а", "ａ", "a\u0301", "á", "\xff", "\xfe", "..", "../..", "-", "_", "__", "___",
	"a__b", "a__", "__a", "1", "-1", ":", ".", " ", "  ", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 4096), strings.Repeat("x", 4095) + "y", strings.Repeat("é", 2048),
	llm.SearchTool, llm.CallTool, "a_b_1c0e8a57", "functions.a", "default_api:a", `"a"`, "{}", "*", "a*", "%s", "$ref", "constructor", "null",
}

// drawn is a list of tools with hostile names on servers with hostile names; no pair is there twice.
func drawn(random *rand.Rand, size int) []llm.Listed {
	var out []llm.Listed
	seen := map[[2]string]bool{}
	servers := []string{"a", "a__b", "b", "a_", "_", "", "a.b", "a b", "1", strings.Repeat("s", 60), strings.Repeat("s", 70), "größe"}
	for range size {
		key := [2]string{servers[random.IntN(len(servers))], hostileNames[random.IntN(len(hostileNames))]}
		if random.IntN(3) == 0 {
			raw := make([]byte, 1+random.IntN(80))
			for i := range raw {
				raw[i] = "ab_-. \xc3\xa91"[random.IntN(9)]
			}
			key[1] = string(raw)
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, llm.Listed{Server: key[0], Tool: mcp.Tool{Name: key[1]}})
		}
	}
	return out
}

// TestNamesFitLeadBackAndStay holds over many lists of hostile names, for every profile: each name fits the API, leads back
// to its tool, and is the same in any order of the list and whatever else is in it. The definition keeps its bytes too.
func TestNamesFitLeadBackAndStay(t *testing.T) {
	holds := func(seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 1))
		list := drawn(random, 40)
		for _, a := range alphabets {
			profile := a.profile
			profile.ToolsMax = 0
			set := bind(t, &fake{tools: list}, llm.Options{Profile: profile})
			if set.Skipped() != nil || len(set.Tools()) != len(list) {
				t.Errorf("%s: left out %v", a.profile.API, set.Skipped())
				return false
			}
			before := map[string]llm.Tool{}
			for i, tool := range set.Tools() {
				back, ok := set.Tool(tool.Name)
				if !a.pattern.MatchString(tool.Name) || !ok || back.Server != list[i].Server || back.Original != list[i].Tool.Name {
					t.Errorf("%s: %q of %q is %q, which leads to %+v", a.profile.API, list[i].Tool.Name, list[i].Server, tool.Name, back)
					return false
				}
				before[tool.Name] = tool
			}
			other := slices.Clone(list)
			random.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
			other = append(other[:len(other)/2], llm.Listed{Server: "a", Tool: mcp.Tool{Name: "new"}})
			for _, tool := range bind(t, &fake{tools: other}, llm.Options{Profile: profile}).Tools() {
				if had, ok := before[tool.Name]; tool.Original != "new" && (!ok || had.Original != tool.Original || string(had.Input) != string(tool.Input) || had.Description != tool.Description) {
					t.Errorf("%s: %q of %q has become %q, for it was not there before", a.profile.API, tool.Original, tool.Server, tool.Name)
					return false
				}
			}
			again := bind(t, &fake{tools: list}, llm.Options{Profile: profile})
			if a.write != nil && string(a.write(set)) != string(a.write(again)) || set.Digest() != again.Digest() {
				t.Errorf("%s: the same list has other bytes", a.profile.API)
				return false
			}
		}
		return true
	}
	for seed := range uint64(24) {
		if !holds(seed) {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestNoServerReadsAsAnother holds that a tool of a server without a name does not take the place of a tool of a server with one.
func TestNoServerReadsAsAnother(t *testing.T) {
	set := bind(t, &fake{tools: listed("a__b", "a/b", "c")}, llm.Options{})
	if got := names(set); got != "a__b_"+digestOf("", "a__b")+" a__b c" || set.Skipped() != nil {
		t.Errorf("the names are %s; left out: %v", got, set.Skipped())
	}
	if tool, _ := set.Tool("a__b"); tool.Server != "a" || tool.Original != "b" {
		t.Errorf("a__b leads to %+v", tool)
	}
	if got := names(bind(t, &fake{tools: listed("a__b", "c")}, llm.Options{})); got != "a__b c" {
		t.Errorf("where no server has a name, the names are %s", got)
	}
}

// digestOf is what marks a name that could not stay as it is.
func digestOf(server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return hex.EncodeToString(sum[:4])
}

// TestAliasesGoFirst holds that no server takes a name that the user has given to another tool.
func TestAliasesGoFirst(t *testing.T) {
	f := &fake{tools: listed("bad/x", "good/find", "good/more", "other/find"), call: func(server, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult(server + "/" + tool), nil
	}}
	set := bind(t, f, llm.Options{Aliases: map[string]string{"good/find": "bad__x", "more": "find"}})
	if got := names(set); got != "bad__x find other__find" {
		t.Errorf("the names are %s", got)
	}
	if r := set.Invoke(t.Context(), llm.Call{Name: "bad__x"}); r.Text() != "good/find" {
		t.Errorf("the alias calls %s", r.Text())
	}
	if left := set.Skipped(); len(left) != 1 || left[0].Server != "bad" || !strings.Contains(left[0].Reason.Error(), "alias of another") {
		t.Errorf("left out: %v", left)
	}
	twice := bind(t, f, llm.Options{Aliases: map[string]string{"find": "f"}})
	if left := twice.Skipped(); len(left) != 1 || left[0].Server != "other" || !strings.Contains(left[0].Reason.Error(), `"f" is taken`) {
		t.Errorf("one alias for two tools; left out: %v", left)
	}
}

// TestPatterns holds wildcards against regular expressions that mean the same.
func TestPatterns(t *testing.T) {
	word := func(random *rand.Rand, from string) string {
		out := make([]byte, random.IntN(6))
		for i := range out {
			out[i] = from[random.IntN(len(from))]
		}
		return string(out)
	}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 2))
		pattern, name := word(random, "ab*.?"), word(random, "ab.?")+"x"
		like := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		set := bind(t, &fake{tools: []llm.Listed{{Tool: mcp.Tool{Name: name}}}}, llm.Options{Allow: []string{pattern}})
		if got, want := len(set.Tools()) == 1, like.MatchString(name); got != want {
			t.Fatalf("the pattern %q lets %q in: %t", pattern, name, got)
		}
	}
}
