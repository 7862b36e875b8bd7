package server

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/mcp"
)

// hinted are the methods of the specification whose results carry cache hints.
var hinted = []string{
	mcp.MethodDiscover, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListResourceTemplates,
	mcp.MethodListTools, mcp.MethodReadResource,
}

// hint is what the options say of a method's results.
func (s *Server) hint(method string) mcp.CacheHint {
	return s.opts.MethodCache[method].Or(s.opts.Cache)
}

// checkHints says what is wrong with the hints of the options.
func (o *Options) checkHints() error {
	if err := o.Cache.Check(); err != nil {
		return fmt.Errorf("the cache hint of the options: %w", err)
	}
	for method, hint := range o.MethodCache {
		extends := func(x mcp.Extension) bool { return slices.Contains(x.Cacheable, method) }
		if !slices.Contains(hinted, method) && !slices.ContainsFunc(o.Extensions, extends) {
			return fmt.Errorf("the cache hint of %q: results of that method carry none", method)
		}
		if err := hint.Check(); err != nil {
			return fmt.Errorf("the cache hint of %s: %w", method, err)
		}
	}
	return nil
}
