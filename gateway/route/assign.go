package route

// Levels of a name, from the one to keep to the ones that are sure to be free.
const (
	levelPlain  = 0 // the name itself, made legal
	levelPrefix = 1 // behind the prefix
	levelHash   = 2 // with a hash too; each further level salts it anew
	levelFree   = 8 // from here on each takes the first free name
)

// item is one name on its way into the table.
type item struct {
	Entry
	want   string // the name to begin with: that of the server, or one in its place
	level  int
	asked  bool     // the configuration asks for the prefix
	others []string // servers with the same name
}

// assigner names all tools, or all prompts.
type assigner struct {
	naming   Naming
	kind     Kind
	prefixes map[string]string
}

func (a assigner) render(it *item, level int) string {
	if level == levelPlain && a.naming.legal(a.kind, it.want) {
		return it.want
	}
	prefix := ""
	if level >= levelPrefix && a.naming.Mode != Never {
		prefix = a.prefixes[it.Server]
	}
	return a.naming.fit(prefix, it.want, it.Target, level >= levelHash, level-levelHash)
}

// start sets the first level of each item and finds who shares a name.
func (a assigner) start(items []*item) {
	owners := map[string][]string{}
	for _, it := range items {
		owners[it.want] = append(owners[it.want], it.Server)
	}
	for _, it := range items {
		for _, server := range owners[it.want] {
			if server != it.Server {
				it.others = append(it.others, server)
			}
		}
		switch {
		case a.naming.Mode == Always:
			it.level, it.asked = levelPrefix, true
		case len(it.others) > 0:
			a.raise(it)
		}
	}
}

func (a assigner) raise(it *item) {
	it.level++
	if it.level == levelPrefix && a.naming.Mode == Never {
		it.level = levelHash
	}
}

// assign gives each item its own name. A name that two want goes to neither: both rise by a level, and the name is
// not given out any more. The result does not depend on the order of the items, except for those that an upstream
// chases through all levels with names made for it.
func (a assigner) assign(items []*item) {
	a.start(items)
	burned := map[string]bool{}
	if a.kind == Tool {
		for _, name := range a.naming.Reserved {
			burned[name] = true
		}
	}
	for range levelFree {
		if len(a.contested(items, burned)) == 0 {
			return
		}
	}
	a.takeFree(items, burned)
}

// contested names the items, raises those whose name is not theirs alone, and returns them.
func (a assigner) contested(items []*item, burned map[string]bool) []*item {
	claims := make(map[string]int, len(items))
	for _, it := range items {
		it.Exposed = a.render(it, it.level)
		claims[it.Exposed]++
	}
	for name, n := range claims {
		if n > 1 {
			burned[name] = true
		}
	}
	var raised []*item
	for _, it := range items {
		if burned[it.Exposed] {
			a.raise(it)
			raised = append(raised, it)
		}
	}
	return raised
}

// takeFree ends a chase: who is still contested takes the first free name, in the order of the configuration.
func (a assigner) takeFree(items []*item, burned map[string]bool) {
	raised := a.contested(items, burned)
	waiting := make(map[*item]bool, len(raised))
	for _, it := range raised {
		waiting[it] = true
	}
	taken := make(map[string]bool, len(items))
	for _, it := range items {
		if !waiting[it] {
			taken[it.Exposed] = true
		}
	}
	for _, it := range raised {
		for level := levelFree; ; level++ {
			if name := a.render(it, level); !taken[name] && !burned[name] {
				it.level, it.Exposed, taken[name] = level, name, true
				break
			}
		}
	}
}
