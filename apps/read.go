package apps

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// maxPage is the default of ReadOptions.MaxBytes.
const maxPage = 4 << 20

// ReadOptions bounds a page. The zero value is ready to use.
type ReadOptions struct {
	// MaxBytes bounds the HTML. Zero means 4 MiB; negative means no bound but that of the connection.
	MaxBytes int64

	// Listed is the entry of the page in resources/list, where the host has it: what it says of the page counts where the
	// page itself says nothing.
	Listed *mcp.Resource
}

// View is a page as a host gets it.
type View struct {
	URI  string
	HTML string
	UI   ResourceMeta
}

// Read reads a page. It fails when the resource is not one page of MIMEType, is larger than allowed, or says what a page
// cannot say. What View.UI asks for is still the host's to grant: see CSP.Policy and Permissions.Allow.
func Read(ctx context.Context, c *client.Client, uri string, o ReadOptions) (*View, error) {
	if !isURI(uri) {
		return nil, fmt.Errorf("page %.200q: the URI of a page begins with %s", uri, Scheme)
	}
	result, err := c.ReadResource(ctx, uri)
	if err != nil {
		return nil, err
	}
	view, err := o.view(uri, result)
	if err != nil {
		return nil, fmt.Errorf("page %.200q: %w", uri, err)
	}
	return view, nil
}

func (o ReadOptions) view(uri string, result *mcp.ReadResourceResult) (*View, error) {
	if len(result.Contents) != 1 || result.Contents[0].URI != uri {
		return nil, errors.New("the server has answered with something else than this one page")
	}
	page := result.Contents[0]
	if !IsPage(page.MIMEType) {
		return nil, fmt.Errorf("its type is %.100q, a page has %s", page.MIMEType, MIMEType)
	}
	html := page.Text
	if page.Blob != nil {
		html = string(page.Blob)
	}
	limit := o.MaxBytes
	if limit == 0 {
		limit = maxPage
	}
	switch {
	case limit > 0 && int64(len(html)) > limit:
		return nil, fmt.Errorf("it has %d bytes, at most %d are taken; ReadOptions.MaxBytes lifts that", len(html), limit)
	case html == "" || !utf8.ValidString(html):
		return nil, errors.New("it is empty, or not UTF-8")
	}
	view := &View{URI: uri, HTML: html}
	meta := page.Meta
	if _, ok := meta.Get(metaKey); !ok && o.Listed != nil {
		meta = o.Listed.Meta
	}
	if _, err := meta.Decode(metaKey, &view.UI); err != nil {
		return nil, err
	}
	return view, view.UI.CSP.check()
}
