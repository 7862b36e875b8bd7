package mcp

import (
	stdjson "encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Level is how grave a log message is, after RFC 5424.
type Level string

// The levels, least grave first.
const (
	LevelDebug     Level = "debug"
	LevelInfo      Level = "info"
	LevelNotice    Level = "notice"
	LevelWarning   Level = "warning"
	LevelError     Level = "error"
	LevelCritical  Level = "critical"
	LevelAlert     Level = "alert"
	LevelEmergency Level = "emergency"
)

// Levels lists the levels, least grave first. The slice is the caller's.
func Levels() []Level {
	return []Level{LevelDebug, LevelInfo, LevelNotice, LevelWarning, LevelError, LevelCritical, LevelAlert, LevelEmergency}
}

// ParseLevel reads a level. An unknown one is an [CodeInvalidParams] error that names the choices.
func ParseLevel(s string) (Level, error) {
	if level := Level(s); level.rank() >= 0 {
		return level, nil
	}
	return "", InvalidParams("log level %q is unknown; use one of %v", s, Levels())
}

// rank is the place in the order, -1 for an unknown level.
func (l Level) rank() int { return slices.Index(Levels(), l) }

// Enabled reports whether a message of level l passes a threshold. The empty threshold lets nothing through: no level
// asked for means no logs.
func (l Level) Enabled(threshold Level) bool {
	return threshold.rank() >= 0 && l.rank() >= threshold.rank()
}

// Compare orders two levels; unknown ones come first.
func (l Level) Compare(other Level) int { return l.rank() - other.rank() }

// LoggingMessageParams are the parameters of notifications/message.
type LoggingMessageParams struct {
	Level  Level              `json:"level"`
	Logger string             `json:"logger,omitzero"`
	Data   stdjson.RawMessage `json:"data"` // any JSON, often a string
	Meta   Meta               `json:"_meta,omitzero"`
	Extra  jsontext.Value     `json:",embed"`
}

// NewLoggingMessage encodes data for a log message.
func NewLoggingMessage(level Level, logger string, data any) (LoggingMessageParams, error) {
	raw, err := marshal(data)
	if err != nil {
		return LoggingMessageParams{}, fmt.Errorf("log message of %q: %w", logger, err)
	}
	return LoggingMessageParams{Level: level, Logger: logger, Data: raw}, nil
}

// SetLevelParams are the parameters of logging/setLevel (legacy).
type SetLevelParams struct {
	Level Level          `json:"level"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}
