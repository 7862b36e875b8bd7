// Package route decides which upstream gets a call: pure functions from the lists of all upstreams to one immutable
// table that says under which name each tool, prompt, resource and template is shown, and whose it is.
//
// # Names of tools and prompts
//
// A name stays as it is when it is legal and nobody else has it. Otherwise it is made from the server's prefix (its
// alias, or its name), the separator and the name: a__search. All rules look at the configuration and at the lists,
// never at the time a server connected, so the same input gives the same names after every restart:
//
//   - A name wanted by two is given to neither: both change, so that a name never passes silently from one server to
//     another while servers come and go. Prefixed names that meet again (server a with b_c, server a_b with c, and
//     the separator "_") all get a hash.
//   - A changed name has only letters, digits, '_' and '-', and at most 64 of them, which is what model APIs take. A
//     name that lost characters on the way ends in '_' and eight hexadecimal digits of SHA-256 over server and name.
//   - An operator may give a tool or a prompt another name ([Upstream].Names), which then counts as if the server had given it.
//   - [Naming].MaxLength asks that of every name, unchanged ones too.
//
// Calls are looked up in the table; no name is ever split at the separator.
//
// # Addresses of resources and templates
//
// An address stays as it is. When two servers list the same, the one that comes first in the configuration keeps it,
// and the others' become rialto+<server>:<address>. In <server> lower-case letters, digits and '-' stand for
// themselves and every other byte is '.' and two hexadecimal digits, so the scheme survives programs that lower its
// case, and [OriginalURI] gives back what was there. Addresses of pages (ui://) and of files of skills (skill://) keep their
// scheme, by which hosts know what they are: ui://rialto+<server>/<rest>.
//
// # What the caller does
//
// Pass all configured servers in the order of the configuration, those that are down with empty lists. Bound the
// lists before (the client caps pages and entries). Build a new table when a list changes; a [Table] never changes,
// so any number of goroutines may use it.
package route
