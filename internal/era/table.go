package era

import (
	"slices"

	"github.com/rialto-mcp/rialto/mcp"
)

// Side is an end of a connection.
type Side uint8

// The two ends. A codec is made for one of them: what it decodes is sent to that side.
const (
	ServerSide Side = iota + 1
	ClientSide
)

// Other returns the opposite end.
func (s Side) Other() Side { return ServerSide + ClientSide - s }

// Row is one method of an era's table.
type Row struct {
	Method       string
	Notification bool
	ToServer     bool   // a client may send it
	ToClient     bool   // a server may send it
	Since, Until string // legacy revisions, both included; empty means open
	Extension    string // identifier of the extension the row belongs to; empty for the core
	Undeclared   bool   // of an extension that requests need not declare
	NameParam    string // the parameter that the Mcp-Name header mirrors; empty for none
	Cacheable    bool   // its complete results carry cache hints, where the era has them
	MultiRound   bool   // may answer with questions, and its params may hold answers and state
	Ack          bool   // its result has no members in this era
	Long         bool   // stays open by design (a listen): not counted as in flight, ended and not awaited at shutdown
}

// To tells whether the row may be sent to a side.
func (r *Row) To(side Side) bool {
	if side == ServerSide {
		return r.ToServer
	}
	return r.ToClient
}

// Standing is how a method stands in an era: the outcomes are told apart because each is answered differently.
type Standing uint8

// The standings of a method.
const (
	Known  Standing = iota + 1 // a row of the table
	Absent                     // a specification method that this revision does not have (in this direction)
	Vendor                     // no method of the specification: era-blind
)

// Config is what all codecs of one server or client share.
type Config struct {
	Side       Side
	Extensions []mcp.Extension // enabled ones; they add rows to the tables

	// Vendor tells whether this side serves a method outside the universe. Nil means none. It is called concurrently.
	Vendor func(method string) bool

	Info               mcp.Implementation     // who this side is
	ClientCapabilities mcp.ClientCapabilities // client side: put into each modern request

	// Served are the revisions this side speaks, in order of preference.
	Served []string
}

// Table is the method table of one revision: its core rows and those of the enabled extensions. It is not changed after
// it was built and may be used concurrently.
type Table struct {
	rows     map[string]*Row
	universe map[string]bool

	extensions map[string]bool // the enabled ones, by identifier
}

// NewTable builds a table. The universe holds every core method of every era: its members exist only as rows.
func NewTable(core []Row, extensions []mcp.Extension, universe map[string]bool) *Table {
	t := &Table{rows: make(map[string]*Row), universe: universe, extensions: make(map[string]bool)}
	for i := range core {
		t.rows[core[i].Method] = &core[i]
	}
	for _, x := range extensions {
		t.extensions[x.Identifier] = true
		for _, row := range ExtensionRows(x) {
			t.rows[row.Method] = &row
		}
	}
	return t
}

// ExtensionRows turns an extension's methods into rows.
func ExtensionRows(x mcp.Extension) []Row {
	var rows []Row
	for _, method := range x.Requests {
		rows = append(rows, Row{
			Method: method, ToServer: true, Extension: x.Identifier, Undeclared: x.ServerOnly,
			NameParam: x.NameParam[method], Cacheable: slices.Contains(x.Cacheable, method), Ack: slices.Contains(x.Acks, method),
		})
	}
	for _, method := range x.Notifications {
		rows = append(rows, Row{Method: method, Notification: true, ToClient: true, Extension: x.Identifier})
	}
	return rows
}

// Has tells whether an extension is enabled.
func (t *Table) Has(extension string) bool { return t.extensions[extension] }

// Look finds how a method stands, for a message that is sent to a side.
func (t *Table) Look(method string, notification bool, to Side) (*Row, Standing) {
	row, ok := t.rows[method]
	switch {
	case ok && row.Notification == notification && row.To(to):
		return row, Known
	case ok || t.universe[method]:
		return nil, Absent
	}
	return nil, Vendor
}
