package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

func checkToken(token string) error {
	switch {
	case len(token) < shortestToken:
		return fmt.Errorf("the token has less than %d characters, so it can be guessed; openssl rand -hex 32 makes a good one", shortestToken)
	case len(token) > longestToken:
		return fmt.Errorf("the token has more than %d characters", longestToken)
	case strings.ContainsFunc(strings.TrimRight(token, "="), func(c rune) bool { return c > '~' || !isTokenChar(byte(c)) }):
		return errors.New("a token can have letters, digits and -._~+/ and end in =, since it travels in a header; make another")
	}
	return nil
}

func isTokenChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~+/", c) >= 0
}

func checkCaller(name string) error {
	if name == "" || len(name) > longestCaller || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
		return fmt.Errorf("the name of a caller has 1 to %d visible ASCII characters without blanks, quotes and backslashes", longestCaller)
	}
	return nil
}

func checkScope(scope string) error {
	if scope == "" || strings.ContainsFunc(scope, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
		return errors.New("a scope has visible ASCII characters without blanks, quotes and backslashes")
	}
	return nil
}

func checkRole(role string) error {
	if strings.TrimSpace(role) == "" {
		return errors.New("the text is empty; remove it")
	}
	return nil
}

func checkAudience(audience string) error {
	if strings.TrimSpace(audience) == "" {
		return errors.New("the audience is empty; write what the tokens have in aud, or remove it")
	}
	return nil
}

func checkDPoP(way string) error {
	if way != DPoPOff && way != DPoPOptional && way != DPoPRequired {
		return errors.New("write off, optional or required")
	}
	return nil
}

func checkPublic(path string) error {
	if !slices.Contains(publicPaths, path) {
		return fmt.Errorf("only these can be served to everybody: %s", strings.Join(publicPaths, ", "))
	}
	return nil
}

func checkAlgorithm(name string) error {
	known := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	if !slices.Contains(known, name) {
		return fmt.Errorf("this must be one of %s; others can be forged by whoever can check them", strings.Join(known, ", "))
	}
	return nil
}
