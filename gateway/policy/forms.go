package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// finder finds the places of one form in a text, from the first to the last.
type finder struct {
	label string
	find  func(text string) [][]int
}

// Forms are the names of the forms that are built in.
func Forms() []string { return slices.Sorted(maps.Keys(forms)) }

var forms = map[string]finder{
	"email":      worded(`[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24}\b`, "@"),
	"creditCard": {find: cards},
	"jwt":        worded(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, "eyJ"),
	"privateKey": worded(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`, "PRIVATE KEY"),
	"apiKey": worded(`\b(?:`+strings.Join([]string{
		`sk-[A-Za-z0-9_-]{20,}`,                      // OpenAI, Anthropic
		`[srp]k_(?:live|test)_[0-9A-Za-z]{16,}`,      // Stripe
		`gh[pousr]_[A-Za-z0-9]{36,}`,                 // GitHub
		`github_pat_[A-Za-z0-9_]{22,}`,               // likewise
		`glpat-[A-Za-z0-9_-]{20,}`,                   // GitLab
		`xox[abeoprs]-[A-Za-z0-9-]{10,}`,             // Slack
		`(?:AKIA|ASIA)[0-9A-Z]{16}\b`,                // AWS
		`AIza[0-9A-Za-z_-]{35}`,                      // Google
		`ya29\.[0-9A-Za-z_-]{20,}`,                   // likewise
		`npm_[A-Za-z0-9]{36}`,                        // npm
		`hf_[A-Za-z0-9]{30,}`,                        // Hugging Face
		`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, // SendGrid
		`do[opr]_v1_[a-f0-9]{64}`,                    // DigitalOcean
	}, "|")+`)`,
		"sk-", "_live_", "_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "ya29.", "npm_", "hf_", "SG.", "_v1_"),
}

// worded finds an expression, in texts that hold one of some words; looking for those costs less.
func worded(pattern string, words ...string) finder {
	compiled := regexp.MustCompile(pattern)
	return finder{find: func(text string) [][]int {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) }) {
			return nil
		}
		return compiled.FindAllStringIndex(text, -1)
	}}
}

// Bounds of the number of a payment card: ISO/IEC 7812.
const (
	leastDigits = 13
	mostDigits  = 19
	mostGroups  = 40 // of one run of digits
)

var digitRun = regexp.MustCompile(`[0-9]+(?:[ -][0-9]+)*`)

// cards finds numbers of payment cards: digits in groups, or in one, that begin as they do and whose check digit fits. A longer
// number is not cut into pieces.
func cards(text string) (out [][]int) {
	digits := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			digits++
		}
	}
	if digits < leastDigits { // most texts; the expression takes ten times as long
		return nil
	}
	for _, run := range digitRun.FindAllStringIndex(text, -1) {
		if run[1]-run[0] < leastDigits {
			continue
		}
		out = append(out, cardsIn(text, run)...)
	}
	return out
}

// cardsIn finds numbers in one run of groups.
func cardsIn(text string, run []int) (out [][]int) {
	var groups [][2]int
	for at := run[0]; at < run[1]; {
		end := at
		for end < run[1] && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		groups = append(groups, [2]int{at, end})
		at = end + 1
	}
	if len(groups) > mostGroups {
		groups = groups[:mostGroups]
	}
	for first := 0; first < len(groups); first++ {
		for last := len(groups) - 1; last >= first; last-- {
			if isCard(text[groups[first][0]:groups[last][1]]) {
				out = append(out, []int{groups[first][0], groups[last][1]})
				first = last
				break
			}
		}
	}
	return out
}

// isCard tells whether digits, with single characters between their groups, are the number of a card.
func isCard(text string) bool {
	sum, digits := 0, 0
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if digits%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		if digits++; digits > mostDigits {
			return false
		}
	}
	return digits >= leastDigits && sum%10 == 0 && text[0] >= '2' && text[0] <= '6'
}
