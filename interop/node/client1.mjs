// A client driver on the official TypeScript SDK 1.x, which speaks the revisions with the initialize handshake.
//
// Usage: node client1.mjs URL < plan.json        node client1.mjs -- COMMAND ARGS < plan.json
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { main, requestInit, target } from './drive.mjs';
import { signedIn } from './login.mjs';
import { open } from './sdk1.mjs';

const peer = target();

await main('typescript-1', (plan, report) => {
  if (plan.login) {
    return signedIn((authProvider) => {
      const transport = new StreamableHTTPClientTransport(peer.url, { authProvider });
      return { transport, client: open(transport, plan, report) };
    }, (transport, answer) => transport.finishAuth(answer.get('code')));
  }
  const transport = peer.url
    ? new StreamableHTTPClientTransport(peer.url, { requestInit: requestInit(plan) })
    : new StdioClientTransport({ ...peer, stderr: 'inherit' });
  return open(transport, plan, report);
});
