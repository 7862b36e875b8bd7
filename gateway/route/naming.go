package route

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mode says when names get the prefix of their server.
type Mode string

// The modes of [Naming].
const (
	OnCollision Mode = "collision" // where two servers have the same name; the default
	Always      Mode = "always"    // everywhere
	Never       Mode = "never"     // nowhere: names that meet get a hash instead
)

// Naming says how tools and prompts are named. The zero value is ready to use.
type Naming struct {
	Mode      Mode              // empty means OnCollision
	Separator string            // between prefix and name, 1 to 4 of '_' and '-'; empty means "__"
	MaxLength int               // bytes of every name, 16 to 128; zero keeps unchanged names of any legal length
	Aliases   map[string]string // prefix by name of server, 1 to 32 letters, digits, '_' and '-'
	Reserved  []string          // names that no tool gets: they have a meaning of their own
}

const (
	defaultSeparator = "__"
	maxChanged       = 64  // what model APIs take
	maxToolName      = 128 // 2025-11-25 and 2026-07-28, server/tools, "Tool Names"
	maxPromptName    = 256 // ours: the protocol has no rule
	maxPrefix        = 32
	hashDigits       = 8
)

func (n Naming) withDefaults() Naming {
	if n.Mode == "" {
		n.Mode = OnCollision
	}
	if n.Separator == "" {
		n.Separator = defaultSeparator
	}
	return n
}

// Validate says what is wrong with the naming for these servers. An alias must not be the alias or the name of
// another server.
func (n Naming) Validate(servers []string) error {
	n = n.withDefaults()
	if n.Mode != OnCollision && n.Mode != Always && n.Mode != Never {
		return fmt.Errorf("the mode %q is not known; write collision, always or never", n.Mode)
	}
	if len(n.Separator) > 4 || strings.Trim(n.Separator, "_-") != "" {
		return fmt.Errorf("the separator %q cannot be used; write 1 to 4 of '_' and '-'", n.Separator)
	}
	if n.MaxLength != 0 && (n.MaxLength < 16 || n.MaxLength > maxToolName) {
		return fmt.Errorf("the maximum length %d cannot be used; write 16 to %d, or 0 for none", n.MaxLength, maxToolName)
	}
	owner := map[string]string{}
	for _, server := range servers {
		if _, twice := owner[server]; twice || server == "" {
			return fmt.Errorf("the server name %q is empty or stands twice; give each server its own", server)
		}
		owner[server] = server
	}
	used := 0
	for _, server := range servers {
		alias, ok := n.Aliases[server]
		if !ok {
			continue
		}
		used++
		if alias == "" || len(alias) > maxPrefix || sanitize(alias) != alias {
			return fmt.Errorf("the alias %q of server %q cannot be used; write 1 to %d letters, digits, '_' and '-'", alias, server, maxPrefix)
		}
		if other, taken := owner[alias]; taken && other != server {
			return fmt.Errorf("the alias %q of server %q already stands for server %q; choose another", alias, server, other)
		}
		owner[alias] = server
	}
	if used != len(n.Aliases) {
		return fmt.Errorf("there is an alias for a server that is not configured; remove it")
	}
	return nil
}

// prefixes gives each server its own prefix. They depend on the configuration only. An alias and a name that can be
// used as it is come first; a name that had to be changed gets a hash when somebody else has the result.
func (n Naming) prefixes(servers []string) map[string]string {
	out, wanted := make(map[string]string, len(servers)), map[string]int{}
	for _, server := range servers {
		prefix, ok := n.Aliases[server]
		if !ok {
			prefix = sanitize(server)
			prefix = prefix[:min(len(prefix), maxPrefix)]
			if strings.Trim(prefix, "_-") == "" {
				prefix = "server"
			}
		}
		out[server] = prefix
		wanted[prefix]++
	}
	taken := map[string]bool{}
	for _, server := range servers {
		if prefix := out[server]; n.exact(server, prefix) || wanted[prefix] == 1 {
			taken[prefix] = true
		}
	}
	for _, server := range servers {
		prefix := out[server]
		if n.exact(server, prefix) || wanted[prefix] == 1 {
			continue
		}
		stem := prefix[:min(len(prefix), maxPrefix-hashDigits-1)]
		for salt := 0; taken[prefix] || prefix == out[server]; salt++ {
			prefix = stem + "_" + hash(server, "", salt)
		}
		out[server], taken[prefix] = prefix, true
	}
	return out
}

func (n Naming) exact(server, prefix string) bool {
	return prefix == server || prefix == n.Aliases[server]
}

// limit is the length of a changed name.
func (n Naming) limit() int {
	if n.MaxLength == 0 {
		return maxChanged
	}
	return min(n.MaxLength, maxChanged)
}

// fit makes a changed name of a target from an optional prefix and a name. It hashes when something is lost, or when told to.
func (n Naming) fit(prefix, name string, of Target, hashed bool, salt int) string {
	clean := sanitize(name)
	lead := ""
	if prefix != "" {
		lead = prefix + n.Separator
	}
	if clean == name && clean != "" && !hashed && len(lead)+len(clean) <= n.limit() {
		return lead + clean
	}
	if clean == "" {
		clean = "unnamed"
	}
	room := n.limit() - hashDigits - 1
	if over := len(lead) + len(clean) - room; over > 0 && lead != "" {
		// The name says more than the prefix: the prefix gives way down to a third.
		kept := max(len(prefix)-over, min(len(prefix), room/3-len(n.Separator)), 1)
		lead = prefix[:kept] + n.Separator
	}
	clean = clean[:min(len(clean), room-len(lead))]
	return lead + clean + "_" + hash(of.Server, of.Name, salt)
}

func hash(server, name string, salt int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(server)) + ":" + server + name + "\x00" + strconv.Itoa(salt)))
	return hex.EncodeToString(sum[:hashDigits/2])
}

// sanitize puts '_' for every character that changed names do not have.
func sanitize(name string) string {
	return strings.Map(func(r rune) rune {
		if isStrict(r) {
			return r
		}
		return '_'
	}, name)
}

func isStrict(r rune) bool {
	return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// legal tells whether the name may be shown as it is.
func (n Naming) legal(kind Kind, name string) bool {
	if n.MaxLength > 0 {
		return name != "" && len(name) <= n.MaxLength && sanitize(name) == name
	}
	if kind == Prompt {
		return name != "" && len(name) <= maxPromptName && utf8.ValidString(name) &&
			!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	}
	return name != "" && len(name) <= maxToolName && !strings.ContainsFunc(name, func(r rune) bool { return !isStrict(r) && r != '.' })
}
