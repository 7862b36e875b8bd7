package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/gateway/route"
)

// sign is one thing to look for in a text. find gives the place of the first; nil for none.
type sign struct {
	says string
	find func(text string) []int
	must [][]string // of each, one word must be there in small letters; looking for those costs a hundredth of looking for the sign
}

// matching looks for an expression. Texts of definitions are English more often than not, and so are these. must are words, with
// bars between those of which one is enough.
func matching(says, expression string, must ...string) sign {
	s := sign{says: says, find: regexp.MustCompile("(?i)" + expression).FindStringIndex}
	for _, words := range must {
		s.must = append(s.must, strings.Split(words, "|"))
	}
	return s
}

// maybe tells whether a sign may be in a text, by the text in small letters.
func (s *sign) maybe(small string) bool {
	for _, words := range s.must {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(small, word) }) {
			return false
		}
	}
	return true
}

// small is a text in the letters that expressions take for the same: there is a sign of old prints that stands for an s, too.
func small(text string) string { return strings.ReplaceAll(strings.ToLower(text), "\u017f", "s") }

const (
	keepsFrom = "tells the model to keep something from the user"
	secrets   = "leads to files with secrets, or to the conversation"
	imitates  = "imitates the frame of a prompt"
	markup    = "holds a comment, a script or a picture"
)

var signs = []sign{
	{says: "holds characters that nobody sees", find: hidden},
	matching(keepsFrom,
		`\b(do not|don'?t|never|must not|should not|avoid)\s+(\w+\s+){0,4}(tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|disclose|disclosing|alert|alerting)\b.{0,40}\b(user|human|operator)s?\b`,
		"not|don|never|avoid", "tell|mention|inform|reveal|notify|disclos|alert", "user|human|operator"),
	matching(keepsFrom,
		`\bwithout\s+(\w+\s+){0,2}(telling|informing|notifying|alerting|mentioning)\b.{0,40}\b(user|human|operator)s?\b`,
		"without", "telling|informing|notifying|alerting|mentioning", "user|human|operator"),
	matching(keepsFrom, `\b(keep|hide)\s+(this|it|that|these)\s+(\w+\s+){0,2}(secret|hidden|from)\b`, "keep|hide", "secret|hidden|from"),
	matching("tells the model to ignore what it was told",
		`\b(ignore|disregard|forget|override|bypass)\s+(all|any|the|your|every|these|those|of|\s)*(previous|prior|above|earlier|preceding|existing|system|safety)\s+(\w+\s+)?(instruction|prompt|rule|message|direction|guideline|polic)`,
		"ignore|disregard|forget|override|bypass", "previous|prior|above|earlier|preceding|existing|system|safety"),
	matching(imitates,
		`<\s*/?\s*(important|system|secret|instructions?|hidden|critical|admin|sys|assistant|human)\s*>|\[\s*/?\s*(INST|SYSTEM)\s*\]`,
		"<|[", "important|secret|instruction|hidden|critical|admin|sys|assistant|human|inst"),
	matching(imitates, `<\|[a-z_]{2,20}\|>`, "<"),
	matching(secrets, `~/\.(ssh|aws|cursor|config|gnupg|kube|netrc|npmrc|docker)|\bid_(rsa|ed25519|ecdsa)\b|/etc/(passwd|shadow)\b|\.cursor/mcp\.json|claude_desktop_config`,
		"~/.|id_rsa|id_ed25519|id_ecdsa|/etc/|mcp.json|claude_desktop_config"),
	matching(secrets, `\b(send|include|pass|forward|upload|attach|copy|paste|provide|repeat|print|output)\b.{0,60}\b(system prompt|(entire|full|whole|complete|previous|prior)\s+(conversation|chat|message)s?|(conversation|chat)\s+history)`,
		"system prompt|conversation|chat|message", "send|include|pass|forward|upload|attach|copy|paste|provide|repeat|print|output"),
	matching("puts itself before the tools of others",
		`\b(instead of|rather than|before)\s+(using\s+|calling\s+|any\s+use\s+of\s+)?(any|all|every)\s+(of\s+the\s+)?other\s+(tool|function|server)`,
		"instead|rather|before", "other", "any|all|every"),
	{says: "holds a long text in base64 or hexadecimal", find: encoded},
	matching(markup, `<!--|!\[[^\]]*\]\(\s*https?:|\b(javascript|vbscript):|data:text/html`, "<!--|![|javascript:|vbscript:|data:text/html"),
	matching(markup, `<\s*(script|iframe|img|object|embed)\b`, "<", "script|iframe|img|object|embed"),
	matching("holds a link with a place for data", `https?://[^\s"'<>)]*[?&#][^\s"'<>)]*=(\{|%7b|\$|<|\[)`, "http", "={|=%7b|=$|=<|=["),
}

// hidden finds characters that are there for machines alone: of no width, of the other direction, or of the block of tags. Those
// that scripts and pictures need are let be where they are needed.
func hidden(text string) []int {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return nil
	}
	rightToLeft := strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	})
	before := rune(0)
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		after, _ := utf8.DecodeRuneInString(text[at+size:])
		bad := false
		switch {
		case r == '\u200c', r == '\u200d': // parts of words and of pictures
			bad = !joins(before) || !joins(after)
		case r == '\u200e', r == '\u200f':
			bad = !rightToLeft
		case r == '\ufeff':
			bad = at > 0
		case r == '\ufe0f', r == '\ufe0e': // a picture, or a sign as text
			bad = before < 0x80 && !strings.ContainsRune("0123456789#*", before)
		case r >= 0xe0000 && r <= 0xe007f: // flags of regions end a black flag
			bad = before != '\U0001f3f4' && (before < 0xe0000 || before > 0xe007f)
		case r == '\u200b', r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r == '\u180e', r == '\u3164', r == '\u115f', r == '\u1160',
			r == '\uffa0', r == '\u00ad', r >= 0xe0080 && r <= 0xe0fff, r >= 0xfe00 && r <= 0xfe0d, r == '\u034f':
			bad = true
		case r < ' ' && r != '\n' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0:
			bad = true
		}
		if bad {
			return []int{at, at + size}
		}
		before = r
	}
	return nil
}

// joins tells whether a character may stand beside a joiner.
func joins(r rune) bool {
	return r >= 0x2190 && r < 0x3000 || r >= 0x1f000 && r < 0x20000 || r == '\ufe0f' ||
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Kannada,
			unicode.Malayalam, unicode.Gujarati, unicode.Gurmukhi, unicode.Oriya, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian)
}

const longWord = 120 // characters

// encoded finds what is too long and too mixed for a word or a path.
func encoded(text string) []int {
	at := longWordIn(text)
	if at == nil {
		return nil
	}
	word := text[at[0]:at[1]]
	hexadecimal := strings.Trim(word, "0123456789abcdefABCDEF") == ""
	mixed := strings.ContainsAny(word, "0123456789") && strings.ToLower(word) != word && strings.ToUpper(word) != word
	if hexadecimal && strings.ContainsAny(word, "0123456789") || mixed && strings.Count(word, "/")*16 < len(word) && strings.Count(word, "_")*16 < len(word) {
		return at
	}
	return nil
}

// longWordIn finds the first run of the characters of base64 that is long.
func longWordIn(text string) []int {
	from := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (isNamePart(text[i]) || text[i] == '+' || text[i] == '/') {
			continue
		}
		if i-from >= longWord {
			return []int{from, i}
		}
		from = i + 1
	}
	return nil
}

// isNamePart tells whether a character stands in names of tools as well as around their parts.
func isNamePart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// excerpt is the place of a sign, as it may be shown on a terminal.
func excerpt(text string, at []int) string {
	const around, most = 15, 80
	from, to := max(at[0]-around, 0), min(at[1]+around, len(text), at[0]+most)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return `"` + visible(text[from:to]) + `"`
}

// visible shows what nobody sees by its number.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', r == '\r':
			b.WriteByte(' ')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	return b.String()
}

// names are those of the tools of all servers.
type names struct {
	byName     map[string][]route.Target
	bySkeleton map[string][]route.Target
	longest    int // name
}

func namesOf(all []Listed) names {
	n := names{byName: make(map[string][]route.Target), bySkeleton: make(map[string][]route.Target)}
	for _, one := range all {
		for _, tool := range one.Lists.Tools {
			to := route.Target{Server: one.Server, Name: tool.Key}
			n.byName[tool.Key], n.longest = append(n.byName[tool.Key], to), max(n.longest, len(tool.Key))
			n.bySkeleton[skeleton(tool.Key)] = append(n.bySkeleton[skeleton(tool.Key)], to)
		}
	}
	return n
}

// nameLike tells whether a word can be taken for nothing but the name of a tool: it has several parts.
func nameLike(word string) bool {
	return strings.ContainsAny(word, "_-") || word[0] >= 'a' && word[0] <= 'z' && strings.ToLower(word) != word
}

// mentioned finds the name of a tool that another server has and this one has not.
func (n names) mentioned(server, text string) (route.Target, []int) {
	from := 0
	for i := 0; i <= len(text) && len(n.byName) > 0; i++ {
		if i < len(text) && isNamePart(text[i]) {
			continue
		}
		word := strings.Trim(text[from:i], "_-")
		start := from + strings.Index(text[from:i], word)
		if from = i + 1; word == "" || len(word) > n.longest || !nameLike(word) {
			continue
		}
		owners := n.byName[word]
		if len(owners) > 0 && !slices.ContainsFunc(owners, func(to route.Target) bool { return to.Server == server }) {
			return owners[0], []int{start, start + len(word)}
		}
	}
	return route.Target{}, nil
}

// alike finds a tool of another server whose name looks the same and is another.
func (n names) alike(about Finding) (route.Target, bool) {
	if about.Kind != route.Tool {
		return route.Target{}, false
	}
	for _, to := range n.bySkeleton[skeleton(about.Target.Name)] {
		if to.Server != about.Server && plain(to.Name) != plain(about.Target.Name) {
			return to, true
		}
	}
	return route.Target{}, false
}

// plain is a name without what people do not tell apart: capitals, and the way its parts are joined.
func plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
}

var lookAlikes = strings.NewReplacer(
	"0", "o", "1", "l", "|", "l", "rn", "m", "vv", "w",
	"а", "a", "в", "b", "с", "c", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "н", "h", "о", "o", "р", "p", "ѕ", "s", "т", "t", "у", "y", "х", "x", // Cyrillic
	"α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", // Greek
)

// skeleton is the same for names that look the same.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range plain(name) {
		if r >= 0xff01 && r <= 0xff5e { // of full width
			r -= 0xff01 - '!'
		}
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(lookAlikes.Replace(strings.ToLower(b.String())), "i", "l")
}
