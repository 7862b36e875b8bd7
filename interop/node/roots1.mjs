// A server on the official TypeScript SDK 1.x, so of the legacy era, over its standard input and output. Its tool asks the
// client for its roots, anew in each call, and answers with their addresses.
//
// Usage: node roots1.mjs
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'roots', version: '1.0.0' });
server.registerTool('roots', { description: 'Says where it may work' }, async (extra) => {
  const { roots } = await server.server.listRoots({}, { relatedRequestId: extra.requestId });
  return { content: [{ type: 'text', text: roots.map((r) => r.uri).join(' ') }] };
});
await server.connect(new StdioServerTransport());
