// A client driver on the HTTP+SSE transport (2024-11-05) of the official TypeScript SDK 1.x.
//
// Usage: node sse1.mjs URL < plan.json
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { main, target } from './drive.mjs';
import { signedIn } from './login.mjs';
import { open } from './sdk1.mjs';

const peer = target();

await main('typescript-1-sse', (plan, report) => {
  if (!plan.login) return open(new SSEClientTransport(peer.url), plan, report);
  return signedIn((authProvider) => {
    const transport = new SSEClientTransport(peer.url, { authProvider });
    return { transport, client: open(transport, plan, report) };
  }, (transport, answer) => transport.finishAuth(answer.get('code')));
});
