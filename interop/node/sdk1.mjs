// What the drivers on the official TypeScript SDK 1.x share: a client on any of its transports.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { answers, capabilities, onProgress } from './drive.mjs';

const schemas = {
  'elicitation/create': ElicitRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'roots/list': ListRootsRequestSchema
};

export async function open(transport, plan, report) {
  if (plan.era === 'modern') throw new Error('this client knows the legacy era only');
  const client = new Client({ name: 'typescript-1', version: '1.0.0' }, { capabilities: capabilities(plan) });
  for (const [method, answer] of Object.entries(answers(plan))) client.setRequestHandler(schemas[method], answer);
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
