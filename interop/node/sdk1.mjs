// What the drivers on the official TypeScript SDK 1.x share: a client on any of its transports.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { onProgress } from './drive.mjs';

export async function open(transport, plan, report) {
  if (plan.era === 'modern') throw new Error('this client knows the legacy era only');
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
