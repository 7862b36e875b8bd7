package config

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/skills"
)

// checkExtension refuses an identifier that breaks the grammar, and extensions that the gateway passes on in its own way.
func checkExtension(identifier string) error {
	if slices.Contains([]string{apps.Identifier, skills.Identifier, mcp.ExtensionTasks}, identifier) {
		return fmt.Errorf("the gateway knows %s and passes it on anyway; remove it", identifier)
	}
	return mcp.CheckExtensionIdentifier(identifier)
}
