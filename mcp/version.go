package mcp

import "slices"

// Revisions of the protocol. These are the only places outside the codecs that spell a date; everything else asks the
// traits of a negotiated revision.
const (
	Version20241007 = "2024-10-07" // served as 2024-11-05 under its own name
	Version20241105 = "2024-11-05"
	Version20250326 = "2025-03-26"
	Version20250618 = "2025-06-18"
	Version20251125 = "2025-11-25"
	Version20260728 = "2026-07-28"

	// LatestLegacy is offered in initialize when nothing else is asked for.
	LatestLegacy = Version20251125
	// LatestModern is claimed first on requests without a handshake.
	LatestModern = Version20260728
	// VersionWithoutHeader is what a legacy HTTP request outside a session speaks when it names no version.
	VersionWithoutHeader = Version20250326
)

// LegacyVersions lists the revisions with a handshake, best first. The slice is the caller's.
func LegacyVersions() []string {
	return []string{Version20251125, Version20250618, Version20250326, Version20241105, Version20241007}
}

// ModernVersions lists the stateless revisions, best first. The slice is the caller's.
func ModernVersions() []string {
	return []string{Version20260728}
}

// Versions lists every revision, best first. The slice is the caller's.
func Versions() []string {
	return append(ModernVersions(), LegacyVersions()...)
}

// IsLegacy reports whether v is a known revision with a handshake.
func IsLegacy(v string) bool { return slices.Contains(LegacyVersions(), v) }

// IsModern reports whether v is a known stateless revision.
func IsModern(v string) bool { return slices.Contains(ModernVersions(), v) }

// IsModernDate reports whether v is written as a date on or after the first stateless revision, known or not. A name
// of such a date is a modern one we may not serve; any other text says nothing about an era.
func IsModernDate(v string) bool {
	return isDate(v) && v >= Version20260728
}

func isDate(v string) bool {
	if len(v) != len(Version20260728) {
		return false
	}
	for i := range len(v) {
		if i == 4 || i == 7 {
			if v[i] != '-' {
				return false
			}
		} else if v[i] < '0' || v[i] > '9' {
			return false
		}
	}
	return true
}
