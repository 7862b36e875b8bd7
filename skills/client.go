package skills

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// Client reads the skills of one server. Its methods may be called concurrently.
//
// Nothing of a skill is read before it is asked for: List and Get bring entries, Open reads and checks the SKILL.md, and
// Opened.Read one more file at a time. What does not keep to its entry is an error, and is not handed over.
type Client struct {
	c       *client.Client
	onError func(error)
}

// maxPages bounds how many pages of skills/list are read.
const maxPages = 256

// NewClient makes a Client. onError hears of entries that are left out of a list because they cannot be read, or because
// their URI has come before; nil is silence.
func NewClient(c *client.Client, onError func(error)) *Client {
	if onError == nil {
		onError = func(error) {}
	}
	return &Client{c: c, onError: onError}
}

func (c *Client) serves() error {
	if _, ok := SettingsOf(c.c.ServerCapabilities()); !ok {
		return mcp.Errorf(mcp.CodeCapabilityNotSupported, "the server does not declare %s", Identifier)
	}
	return nil
}

// List iterates over the entries of the server. An error ends it, and is the last thing it yields. An entry may break the
// rules yet: see Skill.Check, which Open asks. A server that serves no skills is mcp.CodeCapabilityNotSupported.
func (c *Client) List(ctx context.Context, opts ...client.CallOptions) iter.Seq2[Skill, error] {
	return func(yield func(Skill, error) bool) {
		var cursor *mcp.Cursor
		seen, cursors := map[string]bool{}, map[mcp.Cursor]bool{}
		for range maxPages {
			page, err := c.page(ctx, cursor, opts)
			if err != nil {
				yield(Skill{}, fmt.Errorf("list skills: %w", err))
				return
			}
			for _, skill := range page.Skills {
				if seen[skill.URI] {
					c.onError(fmt.Errorf("left out the second entry of the skill %.200q", skill.URI))
					continue
				}
				seen[skill.URI] = true
				if !yield(skill, nil) {
					return
				}
			}
			switch cursor = page.NextCursor; {
			case cursor == nil:
				return
			case cursors[*cursor]:
				c.onError(fmt.Errorf("%s repeats the cursor %.60q; the list is cut there", MethodList, *cursor))
				return
			}
			cursors[*cursor] = true
		}
		c.onError(fmt.Errorf("%s has more than %d pages; the rest is left out", MethodList, maxPages))
	}
}

// page reads one page; entries that cannot be read are left out.
func (c *Client) page(ctx context.Context, cursor *mcp.Cursor, opts []client.CallOptions) (page ListResult, err error) {
	if err := c.serves(); err != nil {
		return page, err
	}
	raw, err := client.Request[stdjson.RawMessage](ctx, c.c, MethodList, mcp.ListParams{Cursor: cursor}, opts...)
	if err != nil {
		return page, err
	}
	if json.Unmarshal(raw, &page) == nil {
		return page, nil
	}
	kept, broken := mcp.DropBroken[Skill](raw, "skills")
	for _, fault := range broken {
		c.onError(fmt.Errorf("left out an entry of the list of skills: %w", fault))
	}
	page = ListResult{}
	if err := json.Unmarshal(kept, &page); err != nil {
		return page, mcp.Errorf(mcp.CodeInvalidResult, "the answer cannot be read: %w", err)
	}
	return page, nil
}

// Get fetches the entry of one skill by the URI of its SKILL.md. Skills need not be listed to be there. One that is not is
// mcp.CodeInvalidParams, or mcp.CodeResourceNotFound where the server names the URI in its answer.
func (c *Client) Get(ctx context.Context, uri string, opts ...client.CallOptions) (Skill, error) {
	if err := c.serves(); err != nil {
		return Skill{}, fmt.Errorf("get skill %.200q: %w", uri, err)
	}
	result, err := client.Request[GetResult](ctx, c.c, MethodGet, GetParams{URI: uri}, opts...)
	switch {
	case err != nil:
		return Skill{}, fmt.Errorf("get skill %.200q: %w", uri, err)
	case result.Skill.URI != uri:
		return Skill{}, fmt.Errorf("get skill %.200q: the server has answered with %.200q", uri, result.Skill.URI)
	}
	return result.Skill, nil
}

// Opened is a skill whose SKILL.md has been read and found to be what the entry says. Its methods may be called concurrently.
type Opened struct {
	Skill    Skill
	Manifest []byte // the SKILL.md, front matter included

	c    *Client
	opts []client.CallOptions
}

// Open reads the SKILL.md of a skill and nothing else. It fails when the entry breaks the rules or the limits MaxFiles and
// MaxBytes, and when size, digest or front matter of the SKILL.md are not those of the entry; then nothing is handed over, and
// Get tells whether the skill has changed. opts are for this read and those of Opened.Read; kept answers are not used.
func (c *Client) Open(ctx context.Context, s Skill, opts ...client.CallOptions) (*Opened, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("open skill: %w", err)
	}
	if len(s.Files) > MaxFiles || tooLarge(s.Files) {
		return nil, fmt.Errorf("open skill %.200q: it has more than %d files or %d bytes", s.URI, MaxFiles, MaxBytes)
	}
	o := &Opened{Skill: s, c: c, opts: opts}
	content, err := o.read(ctx, s.URI)
	if err != nil {
		return nil, fmt.Errorf("open skill: %w", err)
	}
	o.Manifest = content
	return o, nil
}

// tooLarge adds sizes without going beyond what they are counted in.
func tooLarge(files []File) bool {
	left := int64(MaxBytes)
	for _, f := range files {
		if f.Size > left {
			return true
		}
		left -= f.Size
	}
	return false
}

// Read reads one file of the skill by its URI, one of Skill.Files, and checks its size and digest. Of a dynamic skill any
// file of its folder may be read, and there is nothing to check it by.
func (o *Opened) Read(ctx context.Context, uri string) ([]byte, error) {
	switch _, listed := o.Skill.File(uri); {
	case !o.Skill.Dynamic && !listed:
		return nil, fmt.Errorf("%.200q is no file of the skill %.200q", uri, o.Skill.URI)
	case o.Skill.Dynamic && !within(o.Skill.Root(), uri):
		return nil, fmt.Errorf("%.200q does not lie in the folder of the skill %.200q", uri, o.Skill.URI)
	}
	return o.read(ctx, uri)
}

// read fetches a file and verifies it.
func (o *Opened) read(ctx context.Context, uri string) ([]byte, error) {
	opts := client.CallOptions{}
	if len(o.opts) > 0 {
		opts = o.opts[0]
	}
	opts.Cache = client.CacheBypass
	result, err := o.c.c.ReadResource(ctx, uri, opts)
	if err != nil {
		return nil, err
	}
	content, err := contentOf(result, uri)
	if err != nil {
		return nil, fmt.Errorf("%.200s: %w", uri, err)
	}
	if err := o.Skill.Verify(uri, content); err != nil {
		return nil, err
	}
	if o.Skill.Dynamic && len(content) > MaxBytes {
		return nil, fmt.Errorf("%.200s has %d bytes, more than a whole skill may", uri, len(content))
	}
	return content, nil
}

// contentOf finds the bytes of a file.
func contentOf(result *mcp.ReadResourceResult, uri string) ([]byte, error) {
	if len(result.Contents) != 1 {
		return nil, fmt.Errorf("the server has answered with %d contents in place of one", len(result.Contents))
	}
	switch one := result.Contents[0]; {
	case one.URI != uri:
		return nil, errors.New("the server has answered with another resource")
	case one.Blob != nil:
		return one.Blob, nil
	default:
		return []byte(one.Text), nil
	}
}
