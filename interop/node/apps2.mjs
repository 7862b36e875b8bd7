// apps1.mjs on the official TypeScript SDK 2.x. It serves both eras.
//
// Usage: node apps2.mjs NAME
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { addApp } from './apps.mjs';

serveStdio(() => {
  const server = new McpServer({ name: 'apps', version: '2.0.0' });
  addApp(server, process.argv[2]);
  return server;
});
