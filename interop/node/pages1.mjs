// A client on the official TypeScript SDK 1.x that visits the pages a server sends its user to, in both ways of 2025-11-25: by
// a request while the call waits, and by an error that has the call repeated. It goes on when the server says that a page is
// done with.
//
// Usage: node pages1.mjs URL < plan.json
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { main, target } from './drive.mjs';

const done = new Map(); // a promise and its resolver for each page

function page(id) {
  if (!done.has(id)) done.set(id, Promise.withResolvers ? Promise.withResolvers() : resolvers());
  return done.get(id);
}

function resolvers() {
  const out = {};
  out.promise = new Promise((resolve) => (out.resolve = resolve));
  return out;
}

async function visit({ url, elicitationId }) {
  await fetch(url);
  await page(elicitationId).promise;
}

await main('typescript-1-pages', async (plan, report) => {
  const client = new Client({ name: 'typescript-1-pages', version: '1.0.0' }, { capabilities: { elicitation: { url: {} } } });
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => page(params.elicitationId).resolve());
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    await visit(params);
    return { action: 'accept' };
  });
  await client.connect(new StreamableHTTPClientTransport(target().url));
  report.version = '2025-11-25';
  const callTool = client.callTool.bind(client);
  client.callTool = async (params) => {
    try {
      return await callTool(params);
    } catch (error) {
      if (!(error instanceof UrlElicitationRequiredError)) throw error;
      for (const one of error.elicitations) await visit(one);
      return await callTool(params);
    }
  };
  return client;
});
