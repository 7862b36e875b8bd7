// A client driver on the official TypeScript SDK 1.x, which speaks the revisions with the initialize handshake.
//
// Usage: node client1.mjs URL < plan.json        node client1.mjs -- COMMAND ARGS < plan.json
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { main, onProgress, target } from './drive.mjs';

async function connect(plan, report) {
  if (plan.era === 'modern') throw new Error('this client knows the legacy era only');
  const peer = target();
  const transport = peer.url ? new StreamableHTTPClientTransport(peer.url) : new StdioClientTransport({ ...peer, stderr: 'inherit' });
  const client = new Client({ name: 'typescript-1', version: '1.0.0' });
  client.setNotificationHandler(ProgressNotificationSchema, onProgress);
  // The library does not tell its caller which revision was agreed, but hands it to the transport.
  const setVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    report.version = version;
    setVersion?.(version);
  };
  await client.connect(transport);
  report.server = client.getServerVersion();
  report.capabilities = client.getServerCapabilities();
  return client;
}

await main('typescript-1', connect);
