package llm

import "unicode/utf8"

// EstimateTokens guesses how many tokens a text is for a model, without the tokenizer of any. Words count one for each five
// letters, digits one for each three, signs one each with runs taken together, other scripts two for three characters. It
// is for budgets and for comparing tools, not for bills.
func EstimateTokens(text string) int {
	n, run, kind := 0, 0, 0
	settle := func() {
		switch kind {
		case 'a':
			n += (run + 4) / 5
		case '0':
			n += (run + 2) / 3
		case '.':
			n += (run + 1) / 2
		case 'u':
			n += (2*run + 2) / 3
		}
		run = 0
	}
	for _, r := range text {
		is := 'u'
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			is = 'a'
		case r >= '0' && r <= '9':
			is = '0'
		case r == ' ' || r == '\n' || r == '\t':
			is = ' '
		case r < utf8.RuneSelf:
			is = '.'
		}
		if int(is) != kind {
			settle()
			kind = int(is)
		}
		run++
	}
	settle()
	return n
}

// frameTokens is what the members around one definition cost.
const frameTokens = 12

func (b *bound) estimate() int {
	return frameTokens + EstimateTokens(b.Name) + EstimateTokens(b.Description) + EstimateTokens(string(b.Input))
}
