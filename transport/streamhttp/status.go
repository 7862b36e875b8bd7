package streamhttp

import (
	"net/http"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// rowStatus is the HTTP status of a refusal by its row in the table of refusals, on the modern era and for what was
// refused before the era was known.
var rowStatus = map[int]int{
	era.RowRequest:       http.StatusBadRequest,
	era.RowShape:         http.StatusBadRequest,
	era.RowHeader:        http.StatusBadRequest,
	era.RowVersion:       http.StatusBadRequest,
	era.RowMethodHeader:  http.StatusBadRequest,
	era.RowMethod:        http.StatusNotFound,
	era.RowMeta:          http.StatusBadRequest,
	era.RowName:          http.StatusBadRequest,
	era.RowTarget:        http.StatusOK,
	era.RowParamHeader:   http.StatusBadRequest,
	era.RowCapable:       http.StatusBadRequest,
	era.RowParams:        http.StatusOK,
	era.RowBusy:          http.StatusServiceUnavailable,
	era.RowNotAcceptable: http.StatusNotAcceptable,
}

// status maps what the engine says of an answer to an HTTP status: the one place that does. Row 0 is what a handler
// returned. Legacy clients read any status but 200 as a broken connection, so there only what belongs to HTTP, the shape
// of messages and sessions has another.
func status(traits *era.Traits, row int, code int64) int {
	switch {
	case traits != nil && traits.Handshake && row > era.RowVersion:
		return http.StatusOK
	case rowStatus[row] != 0:
		return rowStatus[row]
	case traits != nil && traits.Handshake:
		return http.StatusOK
	case code == int64(mcp.CodeMissingCapability):
		return http.StatusBadRequest
	case code == int64(mcp.CodeMethodNotFound):
		return http.StatusNotFound
	}
	return http.StatusOK
}
