package config

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/secret"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/manager"
)

// sectionKey is where the gateway's own settings stand.
const sectionKey = "gateway"

// maxServers bounds the entries of one file.
const maxServers = 1000

// Config is everything the gateway is told. It is not changed after it was read.
type Config struct {
	Listen         string   // host:port
	Path           string   // of the endpoint, begins with '/'
	AllowedHosts   []string // host or host:port
	AllowedOrigins []string // scheme://host[:port], or null

	Insecure bool  // everybody may call, also from other machines
	Auth     *Auth // who may call; nil for everybody

	Naming route.Naming // aliases of servers in Servers only

	ConnectTimeout time.Duration // of one server
	ListTimeout    time.Duration // of all lists of one server
	CallTimeout    time.Duration // of one call without progress
	TotalTimeout   time.Duration // of one call
	StartWait      time.Duration // of a request, for servers that have not been tried yet

	Audit  *Audit          // nil for none
	Policy policy.Settings // who may use what, and how often

	Bundles  map[string]Bundle // by their names, which are those of the paths below that of the endpoint
	ServeAll bool              // the endpoint itself serves everything

	Search *bridge.Search // in place of long lists of tools; nil for none

	PerServer map[string]ServerSettings // what the section says of servers in Servers, by their names

	Pool       Pool
	Extensions []string // that are passed on though the gateway knows nothing of them

	Roots []Root // that servers are told of; nil when nothing is said, which is not the same as none

	PageSize   int  // entries of one page
	RequireAll bool // a server that cannot be reached is fatal at start

	Helpers   []Helper     // programs that print secrets, in the order of the file
	StateKeys *StateKeys   // that seal what clients carry; nil means a random one
	OnDown    shape.OnDown // what clients see of a server that is down, where the section says nothing of that one

	Servers []manager.Server // in the order of the file, disabled ones included
	Inputs  []manager.Input  // that the file may ask for
	Names   []string         // of all entries of the file, those that are wrong or were not to be read included
	Source  []byte           // the whole file, byte for byte

	Warnings []string // of what the file says and hardly means, each with its place

	entries map[string]*manager.Value // as they stand in the file, by name
	unused  unused
}

// Default gives the settings of a file that sets none. It is the one place that knows them.
func Default() *Config {
	return &Config{
		Listen:         "127.0.0.1:8421",
		Path:           "/mcp",
		ServeAll:       true,
		OnDown:         shape.Keep,
		Naming:         route.Naming{Mode: route.OnCollision, Separator: "__"},
		ConnectTimeout: 15 * time.Second,
		ListTimeout:    30 * time.Second,
		CallTimeout:    time.Minute,
		TotalTimeout:   10 * time.Minute,
		StartWait:      5 * time.Second,
		Pool:           Pool{Most: 1000, Each: 100, Share: 50, Idle: 5 * time.Minute},
		PageSize:       1000,
		Policy:         policy.Settings{Default: policy.Allow, Scan: policy.Scan{Do: policy.ScanWarn}, Ask: policy.Ask{All: policy.Asking{Named: true, NoContext: true}}},
	}
}

// Options says how a file is read, in the words of [manager.ReadOptions]. The zero value is ready to use.
type Options struct {
	Lookup    func(name string) (value string, ok bool)
	Input     func(id string) (value string, ok bool)
	Ask       func(manager.Input) (value string, err error)
	Workspace string
	Only      []string

	// Stores says where the stores are that the file may refer to; the folder of the file and its helpers are put in. Nil asks
	// none: references to them stay as they are written.
	Stores *secret.Options

	Context context.Context // ends the questions to stores; nil has no end

	secrets map[string]manager.SecretFunc
}

func (o Options) reader() manager.ReadOptions {
	return manager.ReadOptions{
		Lookup: o.Lookup, Input: o.Input, Ask: o.Ask, Workspace: o.Workspace, Only: o.Only, Sections: []string{sectionKey},
		Secrets: o.secrets, Context: o.Context,
	}
}

// ReadFile reads the configuration file at path. See [Read].
func ReadFile(path string, opts Options) (*Config, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was read only
	return readStores(r, path, opts)
}

// Read reads a configuration; name stands for the file in errors.
//
// When the file as a whole or the gateway's section is wrong, the Config is nil: a gateway must not run with settings
// other than its operator wrote. When only entries of servers are wrong, the Config holds the good ones and comes
// together with the error: a gateway that starts goes on without the bad ones, one that reloads keeps what it has.
// Errors about the content are [*manager.ConfigErrors].
func Read(r io.Reader, name string, opts Options) (*Config, error) {
	return readStores(r, name, opts)
}
