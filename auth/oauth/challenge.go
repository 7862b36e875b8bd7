package oauth

import "strings"

// maxChallenge bounds one header line in bytes; nobody has so much to say. The rest of the bounds stand in parseChallenges.
const maxChallenge = 16 << 10

// challenge is one entry of WWW-Authenticate. RFC 9110, section 11.6.1.
type challenge struct {
	scheme string            // in lower case
	params map[string]string // names in lower case; the first of a name counts
}

// demand is what the challenges of one answer say about OAuth.
type demand struct {
	metadata string   // resource_metadata
	scopes   []string // scope
	code     string   // error
	bearer   bool     // a Bearer challenge is there
	dpop     bool     // a DPoP challenge is there
}

// readDemand reads the OAuth challenges in the header lines of an answer; others are passed over. Where several have the
// same parameter, the first counts.
func readDemand(lines []string) demand {
	var d demand
	for _, line := range lines {
		for _, c := range parseChallenges(line) {
			switch c.scheme {
			case "bearer":
				d.bearer = true
			case "dpop":
				d.dpop = true
			default:
				continue
			}
			if d.metadata == "" {
				d.metadata = c.params["resource_metadata"]
			}
			if d.code == "" {
				d.code = c.params["error"]
			}
			if len(d.scopes) == 0 {
				d.scopes = splitScopes(c.params["scope"])
			}
		}
	}
	return d
}

// parseChallenges reads one header line. It never fails: what breaks the grammar ends the challenge it stands in, and
// reading goes on behind the next comma. Quoted strings are read as such, so that nothing inside one is taken for a name.
// A line beyond maxChallenge is not read at all.
func parseChallenges(line string) []challenge {
	const most = 32 // challenges and parameters; nobody sends so many
	if len(line) > maxChallenge {
		return nil
	}
	var out []challenge
	p := &scanner{text: line}
	for p.more() && len(out) < most {
		word := p.token()
		if word == "" {
			p.skipElement()
			continue
		}
		switch {
		case p.equals(): // a parameter of the challenge before
			value, ok := p.value()
			if len(out) == 0 || !ok {
				p.skipElement()
				continue
			}
			last := &out[len(out)-1]
			name := strings.ToLower(word)
			if _, twice := last.params[name]; !twice && len(last.params) < most {
				last.params[name] = value
			}
		default:
			out = append(out, challenge{scheme: strings.ToLower(word), params: map[string]string{}})
			p.skipToken68()
		}
	}
	return out
}

// scanner walks over one header line.
type scanner struct {
	text string
	at   int
}

func (p *scanner) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *scanner) spaces() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

// more goes to the next element.
func (p *scanner) more() bool {
	for p.at < len(p.text) && strings.IndexByte(" \t,", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at < len(p.text)
}

func (p *scanner) token() string {
	start := p.at
	for p.at < len(p.text) && isToken(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// equals takes the sign between a name and its value. Spaces around it are bad form and accepted.
func (p *scanner) equals() bool {
	start := p.at
	p.spaces()
	if p.peek() != '=' {
		p.at = start
		return false
	}
	p.at++
	p.spaces()
	return true
}

// value takes a token or a quoted string. Unquoted values are taken up to the next comma or space, since many servers
// leave the quotes of addresses out.
func (p *scanner) value() (string, bool) {
	if p.peek() != '"' {
		start := p.at
		for p.at < len(p.text) && strings.IndexByte(" \t,\"", p.text[p.at]) < 0 {
			p.at++
		}
		return p.text[start:p.at], p.at > start
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), true
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", false // no closing quote
}

// skipToken68 passes over the single value that schemes such as Basic and Negotiate may have in place of parameters.
func (p *scanner) skipToken68() {
	start := p.at
	p.spaces()
	for p.at < len(p.text) && (isToken(p.text[p.at]) || p.text[p.at] == '/') {
		p.at++
	}
	for p.peek() == '=' {
		p.at++
	}
	end := p.at
	p.spaces()
	if end == start || p.at < len(p.text) && p.text[p.at] != ',' {
		p.at = start
	}
}

// skipElement goes behind the next comma that stands in no quoted string.
func (p *scanner) skipElement() {
	for p.at < len(p.text) && p.text[p.at] != ',' {
		if p.text[p.at] == '"' {
			if _, ok := p.value(); !ok {
				return
			}
			continue
		}
		p.at++
	}
}
