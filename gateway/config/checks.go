package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

const (
	longestTimeout = 24 * time.Hour
	largestPage    = 10_000
)

func (s *section) duration(to *time.Duration) func(*manager.Value) {
	return func(v *manager.Value) {
		if v.Kind() != manager.Text {
			s.problems.Add(v, "this must be a duration with its unit, such as \"30s\", not %s", v.Kind())
			return
		}
		d, err := time.ParseDuration(v.Text())
		if err != nil || d <= 0 || d > longestTimeout {
			s.problems.Add(v, "this must be a duration above zero and up to 24h, such as \"30s\" or \"2m\"")
			return
		}
		*to = d
	}
}

func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("this must be host:port, such as 127.0.0.1:8421")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return errors.New("the port must be a number from 0 to 65535")
	}
	if strings.ContainsAny(host, " /@") {
		return errors.New("the host must be a name or an IP address")
	}
	return nil
}

func checkPath(p string) error {
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.ContainsAny(p, "?#{}% \t\r\n\"\\"):
		return errors.New("this must be a plain path such as /mcp")
	case p == "/":
		return errors.New("the root belongs to the console; choose a path such as /mcp")
	}
	return nil
}

func checkHost(host string) error {
	if name, port, err := net.SplitHostPort(host); err == nil && !strings.Contains(host, "/") {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return errors.New("the port must be a number from 0 to 65535")
		}
		host = name
	}
	if net.ParseIP(strings.Trim(host, "[]")) == nil && (host == "" || strings.ContainsAny(host, "/:@* ")) {
		return errors.New("this must be a host name or host:port without scheme and path, such as mcp.example.com")
	}
	return nil
}

func checkOrigin(origin string) error {
	if origin == "null" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.Scheme+"://"+u.Host != origin || strings.Contains(origin, "*") {
		return errors.New("this must be scheme://host or scheme://host:port without a path, such as https://app.example.com")
	}
	return nil
}

func checkPageSize(n int) error {
	if n < 1 || n > largestPage {
		return fmt.Errorf("the page size must be from 1 to %d", largestPage)
	}
	return nil
}

// advice names the known key nearest to a mistyped one, or all of them when none is near.
func advice(key string, known []string) string {
	best, distance := "", 3
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(key), strings.ToLower(candidate), distance); d < distance {
			best, distance = candidate, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("did you mean %s?", best)
	case len(known) == 0 || len(known) > 40:
		return "remove it"
	}
	return "known are " + strings.Join(known, ", ")
}

// editDistance counts the insertions, deletions and replacements between two texts, up to a limit.
func editDistance(a, b string, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
