package manager

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// Options configures a Manager. The zero value is ready to use.
type Options struct {
	// Client is what every connection is made with: who we are, what answers the servers' questions, time limits, KeepAlive.
	// Headers and timeout of an entry are added. Client.Restart is the policy by which servers are tried again, without an end
	// whatever its Attempts say: the manager connects, the client does not.
	Client client.Options

	// Configure may change the options for one server: its handlers, its credentials. It is called before each connecting.
	// Nil changes nothing.
	Configure func(s Server, o *client.Options)

	// Dial makes connections. It is called for many servers at once, and again for one when the call before has returned. Its
	// context ends with the manager and after Client.ConnectTimeout; one that pays no heed to it keeps its server from being
	// tried again, and Close from returning. A panic is a failure of the server. Nil means [Dial].
	Dial func(ctx context.Context, s Server, o client.Options) (*client.Client, error)

	// Breaker says when calls of a server that does not answer are refused.
	Breaker BreakerPolicy

	// TrustHints says whether what a server claims of its tools is believed: that one only reads, or may be repeated
	// (readOnlyHint, idempotentHint). Such calls are repeated when their connection is lost. Nil believes none.
	TrustHints func(s Server) bool

	// Retries is how often one call is repeated at most, where that is safe. Zero means 2; negative means never.
	Retries int

	// RetryWait is how long a call that is to be repeated waits for the server to come back. Zero means 5 s; negative means
	// not at all.
	RetryWait time.Duration

	// ListWait bounds how long a list across servers waits for one of them. Zero means 10 s; negative means that only what
	// is known already counts.
	ListWait time.Duration

	// KeepLists is how long the lists of a lost server are still given out, so that a restart changes nothing for those who
	// list. Zero means 30 s; negative means not at all.
	KeepLists time.Duration

	// Drain is how long a server that was taken out of the configuration may finish its calls. Zero means 30 s; negative
	// means that they are cut off.
	Drain time.Duration

	// MaxServers bounds the servers. Zero means 1,000; negative means no bound.
	MaxServers int

	// Logger gets what is odd about servers and concerns no caller. Nil means silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	set(&o.ListWait, 10*time.Second)
	set(&o.KeepLists, 30*time.Second)
	set(&o.Drain, 30*time.Second)
	set(&o.Client.ConnectTimeout, 15*time.Second)
	if o.MaxServers == 0 {
		o.MaxServers = 1000
	}
	if o.Dial == nil {
		o.Dial = Dial
	}
	if o.Client.Verdicts == nil {
		o.Client.Verdicts = &client.Verdicts{} // a restart does not probe again
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Manager keeps connections to many servers. Its methods may be called concurrently.
type Manager struct {
	opts Options

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	over   chan struct{} // closed when Close has ended everything

	reloading sync.Mutex // of those who change the servers, Close included
	retiring  sync.WaitGroup
	closed    bool

	mu      sync.RWMutex
	order   []*member
	byName  map[string]*member
	hearing hearing
}

// Open begins to connect to all servers that are not disabled, side by side, and does not wait for them; see
// [Manager.Settled]. It fails only for servers that make no sense together: a name that is missing or stands twice, or
// too many.
func Open(servers []Server, opts Options) (*Manager, error) {
	m := &Manager{opts: opts.withDefaults(), over: make(chan struct{}), byName: make(map[string]*member)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if _, err := m.Reload(servers); err != nil {
		m.cancel()
		return nil, err
	}
	return m, nil
}

// Close ends all connections and child processes, running calls included, and returns when all has ended: what Options.Dial
// does and the listeners of OnEvent too, which therefore must not call it. It may be called twice, also at once: each call
// returns at the end.
func (m *Manager) Close() {
	m.reloading.Lock()
	if m.closed {
		m.reloading.Unlock()
		<-m.over
		return
	}
	m.closed = true
	m.cancel()
	m.mu.Lock()
	members := m.order
	m.order, m.byName = nil, make(map[string]*member)
	m.mu.Unlock()
	m.reloading.Unlock()
	var closing sync.WaitGroup
	for _, b := range members {
		closing.Go(b.keeper.Close)
	}
	closing.Wait()
	m.retiring.Wait()
	m.hearing.close()
	close(m.over)
}

// Settled waits until every server has been tried once, or ctx ends.
func (m *Manager) Settled(ctx context.Context) {
	for _, b := range m.members() {
		select {
		case <-b.keeper.Tried():
		case <-ctx.Done():
			return
		}
	}
}

// Hurry tries a server again now that waits for its next try: after its user has logged in, say.
func (m *Manager) Hurry(server string) error {
	b, err := m.member(server)
	if err == nil {
		b.keeper.Hurry()
	}
	return err
}

// ServerStatus tells of one server, its breaker and the lengths of its lists.
type ServerStatus struct {
	Status
	Breaker                              BreakerStatus
	Tools, Prompts, Resources, Templates int
}

// Status tells of all servers, in the order of the configuration.
func (m *Manager) Status() []ServerStatus {
	var all []ServerStatus
	for _, b := range m.members() {
		all = append(all, b.status())
	}
	return all
}

// Client gives the connection of a server, for what the manager has no method for; [Manager.Do] is the same behind the
// breaker. It fails with *DownError. The client is the manager's to close, and may be replaced at any time.
func (m *Manager) Client(server string) (*client.Client, error) {
	b, err := m.member(server)
	if err != nil {
		return nil, err
	}
	return b.keeper.Conn()
}

func (m *Manager) members() []*member {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.order
}

func (m *Manager) member(name string) (*member, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if b := m.byName[name]; b != nil {
		return b, nil
	}
	if m.ctx.Err() != nil {
		return nil, fmt.Errorf("%w (%w)", ErrClosed, ErrNotRun)
	}
	return nil, fmt.Errorf("%w: %.80q%s (%w)", ErrUnknownServer, name, m.others(), ErrNotRun)
}

// others says which servers there are, for who has named another one; m.mu is held.
func (m *Manager) others() string {
	const most = 10
	var names []string
	for _, b := range m.order[:min(len(m.order), most)] {
		names = append(names, strconv.Quote(b.name))
	}
	switch more := len(m.order) - len(names); {
	case len(names) == 0:
		return "; there is none"
	case more > 0:
		return fmt.Sprintf("; there are %s and %d more", strings.Join(names, ", "), more)
	}
	return "; there are " + strings.Join(names, ", ")
}
