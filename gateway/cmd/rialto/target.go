package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// session is an open connection to the target.
type session struct {
	client *client.Client
	conn   upstream.Conn
	server manager.Server

	release func() error // of its tokens
}

var modes = map[string]client.Mode{"auto": client.Auto, "legacy": client.Legacy, "modern": client.Modern}

// open connects to the target. The session must be closed.
func (t *targeted) open(ctx context.Context, e *environment) (*session, error) {
	s, err := t.resolve(ctx, e)
	if err != nil {
		return nil, err
	}
	o := client.Options{
		Info: mcp.Implementation{Name: "rialto", Version: programVersion()}, Mode: modes[t.Era],
		ConnectTimeout: t.Timeout, CallTimeout: t.Timeout, ListTimeout: t.Timeout,
	}
	release := signon.Configure(s, &o, signon.Lazy(e.kept().Open))
	c, err := manager.Dial(ctx, s, o)
	if err != nil {
		return nil, explain("connect to "+s.Name, s, errors.Join(err, release()))
	}
	return &session{c, upstream.FromClient(c), s, release}, nil
}

// close ends the connection. The work is done by then, so a server that does not end in order is no failure.
func (s *session) close() {
	_ = s.client.Close()
	_ = s.release()
}

// resolve finds out what the target is.
func (t *targeted) resolve(ctx context.Context, e *environment) (manager.Server, error) {
	s, err := t.find(ctx, e)
	if err != nil {
		return s, err
	}
	if s.Transport == manager.Stdio && len(t.Header) > 0 {
		return s, usage("--header is for servers with a URL; a server that is started takes -e KEY=VALUE")
	}
	if s.Transport != manager.Stdio && len(t.Env) > 0 {
		return s, usage("-e is for servers that are started; a server with a URL takes --header \"Name: value\"")
	}
	for _, h := range t.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return s, usage("--header needs the form \"Name: value\"")
		}
		s.Headers = with(s.Headers, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	for _, v := range t.Env {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return s, usage("-e needs the form KEY=VALUE")
		}
		s.Env = with(s.Env, name, value)
	}
	return s, nil
}

func with(m map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for k, v := range m {
		if _, ok := out[k]; !ok {
			out[k] = v
		}
	}
	return out
}

func (t *targeted) find(ctx context.Context, e *environment) (manager.Server, error) {
	switch {
	case t.command != nil:
		return manager.Server{Name: t.command[0], Transport: manager.Stdio, Command: t.command[0], Args: t.command[1:]}, nil
	case t.Target == "":
		return manager.Server{}, usage("a target is missing: a URL, the name of a server in the configuration file, or a command behind --")
	case strings.Contains(t.Target, "://"):
		return manager.Server{Name: manager.PublicURL(t.Target), Transport: manager.HTTP, URL: t.Target}, nil
	}
	return t.named(ctx, e)
}

// named looks an entry up in the configuration file, which is read anew each time.
func (t *targeted) named(ctx context.Context, e *environment) (manager.Server, error) {
	path, err := t.file(e)
	if err != nil {
		return manager.Server{}, err
	}
	conf, err := t.read(ctx, e, e.console, path, []string{t.Target})
	var known *failure
	switch {
	case errors.As(err, &known):
		return manager.Server{}, err
	case err != nil:
		return manager.Server{}, &failure{exit: exitUsage, step: "read the configuration", kind: "config", seen: err.Error()}
	case len(conf.Servers) > 0:
		return conf.Servers[0], nil
	case len(conf.Names) == 0:
		return manager.Server{}, usage("%s has no server %q, and no other", path, t.Target)
	}
	return manager.Server{}, usage("%s has no server %q; it has %s", path, t.Target, strings.Join(conf.Names, ", "))
}

func (t *targeted) file(e *environment) (string, error) {
	if t.Config != "" {
		return t.Config, nil
	}
	path, err := e.usualFile()
	if err == nil && path == "" {
		err = usage("%q is no URL, and there is no mcp.json or .mcp.json here to look the name up in; give --config FILE, a URL, or a command behind --", t.Target)
	}
	return path, err
}

// usualFile is the configuration file of the folder; empty where there is none.
func (e *environment) usualFile() (string, error) {
	for _, name := range []string{"mcp.json", ".mcp.json"} {
		path := filepath.Join(e.folder, name)
		_, err := os.Stat(path)
		switch {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("look for the configuration: %w", err)
		}
	}
	return "", nil
}
