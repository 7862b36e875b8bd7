// A client driver on the official TypeScript SDK 2.x, which finds the era of the server by itself.
//
// Usage: node client2.mjs URL < plan.json        node client2.mjs -- COMMAND ARGS < plan.json
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answers, capabilities, main, onProgress, requestInit, target } from './drive.mjs';
import { signedIn } from './login.mjs';

const modes = { auto: 'auto', legacy: 'legacy', modern: { pin: '2026-07-28' } };

async function connect(plan, report) {
  const peer = target();
  if (plan.login) {
    return signedIn((authProvider) => {
      const transport = new StreamableHTTPClientTransport(peer.url, { authProvider });
      return { transport, client: open(transport, plan, report) };
    }, (transport, answer) => transport.finishAuth(answer));
  }
  const transport = peer.url
    ? new StreamableHTTPClientTransport(peer.url, { requestInit: requestInit(plan) })
    : new StdioClientTransport({ ...peer, stderr: 'inherit' });
  return open(transport, plan, report);
}

async function open(transport, plan, report) {
  const options = { versionNegotiation: { mode: modes[plan.era ?? 'auto'] }, capabilities: capabilities(plan) };
  const client = new Client({ name: 'typescript-2', version: '1.0.0' }, options);
  for (const [method, answer] of Object.entries(answers(plan))) client.setRequestHandler(method, answer);
  client.setNotificationHandler('notifications/progress', onProgress);
  await client.connect(transport);
  report.version = client.getNegotiatedProtocolVersion();
  report.server = client.getServerVersion();
  report.capabilities = client.getServerCapabilities();
  return client;
}

await main('typescript-2', connect);
