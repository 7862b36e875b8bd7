package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/skills"
)

// withSkills connects as a client that knows skills, and hands each entry of the list over.
func withSkills(ctx context.Context, s *scene, each func(c *skills.Client, skill skills.Skill) error) error {
	opts := answering()
	opts.Extensions = []mcp.Extension{skills.Extension()}
	return s.dial(ctx, opts, func(c *client.Client) error {
		reader := skills.NewClient(c, func(err error) { fmt.Fprintln(os.Stderr, "client: fault outside any call:", err) })
		seen := false
		for skill, err := range reader.List(ctx) {
			if err != nil {
				return err
			}
			seen = true
			if err := each(reader, skill); err != nil {
				return err
			}
		}
		if !seen {
			return errors.New("the server lists no skill")
		}
		return nil
	})
}

// listSkills reads the entries, and no file.
func listSkills(ctx context.Context, s *scene) error {
	return withSkills(ctx, s, func(*skills.Client, skills.Skill) error { return nil })
}

// openTampered opens skills whose SKILL.md is not what their entries say, which has to fail, and reads on in those that open
// all the same.
func openTampered(ctx context.Context, s *scene) error {
	return withSkills(ctx, s, func(c *skills.Client, skill skills.Skill) error {
		opened, refusal := c.Open(ctx, skill)
		var answer *mcp.Error
		if refusal != nil && !errors.As(refusal, &answer) {
			return nil
		}
		if refusal != nil {
			return refusal // by the server, which is not what it is about
		}
		for _, file := range skill.Files {
			if _, err := opened.Read(ctx, file.URI); err != nil {
				return err
			}
		}
		return fmt.Errorf("the skill %q was opened, though it is not what its entry says", skill.Name())
	})
}
