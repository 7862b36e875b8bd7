package schema

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// Cache keeps compiled schemas by the hash of their bytes, the least recently used going first. Its owner decides how
// long it lives; NewCache builds one. It is safe for concurrent use.
//
// Failures are not kept: they are rare, and a stranger must not fill the cache with them.
type Cache struct {
	opts Options
	size int

	mu     sync.Mutex
	order  *list.List // of *cached, the most recently used first
	byHash map[[sha256.Size]byte]*list.Element
}

type cached struct {
	hash   [sha256.Size]byte
	schema *Schema
}

// NewCache builds a cache of at most size schemas, all compiled with opts. A size of zero or less means 1,024.
func NewCache(size int, opts Options) *Cache {
	if size <= 0 {
		size = 1024
	}
	return &Cache{opts: opts, size: size, order: list.New(), byHash: map[[sha256.Size]byte]*list.Element{}}
}

// Compile is the package's Compile, remembered. Two calls at once may compile the same schema twice; both get the one
// that is kept.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	hash := sha256.Sum256(raw)
	if s := c.find(hash); s != nil {
		return s, nil
	}
	s, err := Compile(raw, c.opts)
	if err != nil {
		return nil, err
	}
	return c.keep(hash, s), nil
}

// Len is the number of schemas kept.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

func (c *Cache) find(hash [sha256.Size]byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.byHash[hash]
	if element == nil {
		return nil
	}
	c.order.MoveToFront(element)
	return element.Value.(*cached).schema
}

func (c *Cache) keep(hash [sha256.Size]byte, s *Schema) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.byHash[hash]; element != nil {
		return element.Value.(*cached).schema
	}
	c.byHash[hash] = c.order.PushFront(&cached{hash: hash, schema: s})
	for c.order.Len() > c.size {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.byHash, last.hash)
	}
	return s
}
