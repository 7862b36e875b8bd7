package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/manager"
)

// Bounds of gateway.policy.
const (
	maxRules  = 500
	maxLimits = 100
	maxCount  = 1_000_000
	maxKeys   = 1_000_000
)

// policy lists the settings of gateway.policy.
func (s *section) policy() []setting {
	p := &s.config.Policy
	return []setting{
		{"rules", listOf(s, maxRules, &p.Rules, s.rule)},
		{"default", s.text((*string)(&p.Default), func(a string) error { return policy.Action(a).Check() })},
		{"ask", s.ask},
		{"pin", s.pin},
		{"redact", listOf(s, maxRedactions, &p.Redact, s.redaction)},
		{"scan", s.scan},
		{"rateLimits", listOf(s, maxLimits, &p.Limits, s.limit)},
	}
}

// listOf reads a list of objects.
func listOf[T any](s *section, most int, to *[]T, read func(*manager.Value, *T)) func(*manager.Value) {
	return func(v *manager.Value) {
		if !s.is(v, manager.List) {
			return
		}
		children := v.Children()
		if len(children) > most {
			s.problems.Add(v, "there are %d entries here; %d are the most", len(children), most)
			return
		}
		for _, child := range children {
			if s.is(child, manager.Object) {
				var one T
				read(child, &one)
				*to = append(*to, one)
			}
		}
	}
}

// must reports members that an object lacks.
func (s *section) must(v *manager.Value, keys ...string) {
	for _, key := range keys {
		if v.Member(key) == nil {
			s.problems.Add(v, "%s is missing", key)
		}
	}
}

func (s *section) rule(v *manager.Value, to *policy.Rule) {
	s.must(v, "name", "when", "do")
	s.object(v, []setting{
		{"name", s.text(&to.Name, func(name string) error {
			for _, r := range s.config.Policy.Rules {
				if r.Name == name {
					return fmt.Errorf("there is another rule of the name %q; give each its own", name)
				}
			}
			return named(name)
		})},
		{"when", s.text(&to.When, policy.CheckExpression)},
		{"do", s.text((*string)(&to.Do), func(a string) error { return policy.Action(a).Check() })},
		{"message", s.text(&to.Message, func(string) error { return nil })},
	})
}

func (s *section) limit(v *manager.Value, to *policy.Limit) {
	s.must(v, "name", "rate")
	s.object(v, []setting{
		{"name", s.text(&to.Name, func(name string) error {
			for _, l := range s.config.Policy.Limits {
				if l.Name == name {
					return fmt.Errorf("there is another limit of the name %q; give each its own", name)
				}
			}
			return named(name)
		})},
		{"per", func(v *manager.Value) {
			var per []string
			check := func(p string) error { return policy.Per(p).Check() }
			if v.Kind() == manager.Text {
				if s.check(v, check(v.Text())) {
					per = []string{v.Text()}
				}
			} else {
				s.texts(&per, check)(v)
			}
			for _, p := range per {
				to.Per = append(to.Per, policy.Per(p))
			}
		}},
		{"when", s.text(&to.When, policy.CheckExpression)},
		{"rate", func(v *manager.Value) {
			if s.is(v, manager.Text) {
				var err error
				to.Count, to.Within, err = rateOf(v.Text())
				s.check(v, err)
			}
		}},
		{"burst", s.number(&to.Burst, within("the burst", 1, maxCount))},
		{"maxKeys", s.number(&to.MaxKeys, within("the number of keys", 1, maxKeys))},
	})
}

func named(name string) error {
	if strings.TrimSpace(name) == "" {
		return errors.New("the name is empty; logs tell by it what has decided")
	}
	return nil
}

func within(what string, least, most int) func(int) error {
	return func(n int) error {
		if n < least || n > most {
			return fmt.Errorf("%s must be from %d to %d", what, least, most)
		}
		return nil
	}
}

// spans are the times that a rate may be of.
var spans = []struct {
	name string
	time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}}

// rateOf reads "60/m".
func rateOf(text string) (count int, within time.Duration, err error) {
	number, unit, _ := strings.Cut(text, "/")
	for _, u := range spans {
		if u.name == unit {
			within = u.Duration
		}
	}
	count, err = strconv.Atoi(number)
	if err != nil || count < 1 || count > maxCount || within == 0 {
		return 0, 0, errors.New("write how many in what time: 10/s, 60/m or 1000/h")
	}
	return count, within, nil
}

// normalPolicy is gateway.policy.
func (c *Config) normalPolicy() ordered {
	p := c.Policy
	rules, limits := []ordered{}, []ordered{}
	for _, r := range p.Rules {
		one := ordered{{"name", r.Name}, {"when", r.When}, {"do", r.Do}}
		if r.Message != "" {
			one = append(one, member{"message", r.Message})
		}
		rules = append(rules, one)
	}
	for _, l := range p.Limits {
		limits = append(limits, normalLimit(l))
	}
	return ordered{{"rules", rules}, {"default", p.Default}, {"rateLimits", limits}, {"ask", c.normalAsk()}, {"pin", normalPin(p.Pin)}, {"scan", normalScan(p.Scan)}, {"redact", normalRedactions(p.Redact)}}
}

func normalLimit(l policy.Limit) ordered {
	one := ordered{{"name", l.Name}}
	if len(l.Per) > 0 {
		one = append(one, member{"per", l.Per})
	}
	if l.When != "" {
		one = append(one, member{"when", l.When})
	}
	for _, u := range spans {
		if u.Duration == l.Within {
			one = append(one, member{"rate", fmt.Sprintf("%d/%s", l.Count, u.name)})
		}
	}
	if l.Burst != 0 {
		one = append(one, member{"burst", l.Burst})
	}
	if l.MaxKeys != 0 {
		one = append(one, member{"maxKeys", l.MaxKeys})
	}
	return one
}
