// A server on the official TypeScript SDK 1.x, which speaks the revisions with the initialize handshake, with the content of
// server2.mjs. Over HTTP it serves Streamable HTTP with sessions at /mcp and HTTP+SSE at /sse; with --stdio its standard input
// and output.
//
// Usage: node server1.mjs [--port N]   (0, the default, takes any free port; the address goes to stdout as one JSON line)
//        node server1.mjs --stdio
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const readings = { Oslo: { celsius: 4.5, sky: 'rain' }, Lagos: { celsius: 31, sky: 'sun' } };
const beginning = (words) => (typed) => words.filter((word) => word.startsWith(typed));

function registerTools(server) {
  server.registerTool('say', { description: 'Says a text back', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }]
  }));
  server.registerTool('climb', { description: 'Climbs some steps and reports each', inputSchema: { steps: z.number().int().min(1).max(20) } }, climb);
  server.registerTool(
    'reading',
    {
      description: 'The weather in a city, as structured content',
      inputSchema: { city: z.enum(['Oslo', 'Lagos']) },
      outputSchema: { celsius: z.number(), sky: z.string() }
    },
    ({ city }) => ({ content: [{ type: 'text', text: JSON.stringify(readings[city]) }], structuredContent: readings[city] })
  );
  server.registerTool('stumble', { description: 'Always fails', inputSchema: {} }, () => ({
    content: [{ type: 'text', text: 'stumbled on purpose' }],
    isError: true
  }));
}

async function climb({ steps }, { _meta, sendNotification }) {
  for (let step = 1; step <= steps; step++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (_meta?.progressToken !== undefined) {
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: step, total: steps, message: `step ${step}` }
      });
    }
  }
  return { content: [{ type: 'text', text: `climbed ${steps} steps` }] };
}

function build() {
  const server = new McpServer({ name: 'memo', version: '1.0.0' });
  registerTools(server);
  server.registerResource('welcome', 'memo://welcome', { mimeType: 'text/plain', description: 'A fixed memo' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'welcome to the memo server' }]
  }));
  server.registerResource(
    'note',
    new ResourceTemplate('memo://note/{id}', { list: undefined, complete: { id: beginning(['1', '12', '2']) } }),
    { mimeType: 'text/plain', description: 'One memo by its number' },
    (uri, { id }) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: `memo number ${id}` }] })
  );
  server.registerPrompt(
    'greeting',
    {
      description: 'Asks for a greeting',
      argsSchema: { name: z.string(), language: completable(z.string(), beginning(['dutch', 'danish', 'french'])) }
    },
    ({ name, language }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name} in ${language}.` } }] })
  );
  return server;
}

const sessions = new Map(); // the transports of both kinds by their session

async function serveStreamable(req, res) {
  const id = req.headers['mcp-session-id'];
  if (id !== undefined && !sessions.has(id)) {
    res.writeHead(404).end();
    return;
  }
  let transport = sessions.get(id);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (given) => sessions.set(given, transport),
      onsessionclosed: (given) => sessions.delete(given)
    });
    await build().connect(transport);
  }
  await transport.handleRequest(req, res);
}

async function openStream(res) {
  const transport = new SSEServerTransport('/messages', res);
  sessions.set(transport.sessionId, transport);
  res.on('close', () => sessions.delete(transport.sessionId));
  await build().connect(transport);
}

async function serve(req, res) {
  const { pathname, searchParams } = new URL(req.url, 'http://localhost');
  const older = sessions.get(searchParams.get('sessionId'));
  if (pathname === '/mcp') {
    await serveStreamable(req, res);
  } else if (pathname === '/sse' && req.method === 'GET') {
    await openStream(res);
  } else if (pathname === '/messages' && req.method === 'POST' && older) {
    await older.handlePostMessage(req, res);
  } else {
    res.writeHead(404).end();
  }
}

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, stdio: { type: 'boolean', default: false } } });
if (values.stdio) {
  await build().connect(new StdioServerTransport());
} else {
  const http = createServer(serve);
  http.listen(Number(values.port), '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` }));
  });
}
