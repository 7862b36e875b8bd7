// A server on the official TypeScript SDK 1.x, of the legacy era, over its standard input and output: a tool with a page of
// HTML, as MCP Apps have it, and one for the page alone. All copies have the page under the same address.
//
// Usage: node apps1.mjs NAME   (in the page, and in the names of the tools)
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { addApp } from './apps.mjs';

const server = new McpServer({ name: 'apps', version: '1.0.0' });
addApp(server, process.argv[2]);
await server.connect(new StdioServerTransport());
