// A server on the official TypeScript SDK 2.x. Over HTTP it serves 2026-07-28 and, without sessions, the older
// revisions on one address; with --stdio it does the same on its standard input and output.
//
// Usage: node server2.mjs [--port N]   (0, the default, takes any free port; the address goes to stdout as one JSON line)
//        node server2.mjs --stdio
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, ResourceTemplate, completable, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const readings = { Oslo: { celsius: 4.5, sky: 'rain' }, Lagos: { celsius: 31, sky: 'sun' } };

function registerTools(server) {
  server.registerTool(
    'say',
    { description: 'Says a text back', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text }] })
  );
  server.registerTool(
    'climb',
    { description: 'Climbs some steps and reports each', inputSchema: z.object({ steps: z.number().int().min(1).max(20) }) },
    climb
  );
  server.registerTool(
    'reading',
    {
      description: 'The weather in a city, as structured content',
      inputSchema: z.object({ city: z.enum(['Oslo', 'Lagos']) }),
      outputSchema: z.object({ celsius: z.number(), sky: z.string() })
    },
    async ({ city }) => ({
      content: [{ type: 'text', text: JSON.stringify(readings[city]) }],
      structuredContent: readings[city]
    })
  );
  server.registerTool('stumble', { description: 'Always fails', inputSchema: z.object({}) }, async () => ({
    content: [{ type: 'text', text: 'stumbled on purpose' }],
    isError: true
  }));
}

async function climb({ steps }, ctx) {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  for (let step = 1; step <= steps; step++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (progressToken !== undefined) {
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: step, total: steps, message: `step ${step}` }
      });
    }
  }
  return { content: [{ type: 'text', text: `climbed ${steps} steps` }] };
}

function registerResources(server) {
  server.registerResource('welcome', 'memo://welcome', { mimeType: 'text/plain', description: 'A fixed memo' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'welcome to the memo server' }]
  }));
  server.registerResource(
    'note',
    new ResourceTemplate('memo://note/{id}', { list: undefined, complete: { id: (value) => ['1', '12', '2'].filter((id) => id.startsWith(value)) } }),
    { mimeType: 'text/plain', description: 'One memo by its number' },
    async (uri, { id }) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: `memo number ${id}` }] })
  );
}

function registerPrompts(server) {
  const language = completable(z.string(), (value) => ['dutch', 'danish', 'french'].filter((name) => name.startsWith(value)));
  server.registerPrompt(
    'greeting',
    { description: 'Asks for a greeting', argsSchema: z.object({ name: z.string(), language }) },
    ({ name, language: tongue }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name} in ${tongue}.` } }]
    })
  );
}

function build() {
  const server = new McpServer({ name: 'memo', version: '1.0.0' });
  registerTools(server);
  registerResources(server);
  registerPrompts(server);
  return server;
}

function listen(port) {
  const validHost = localhostHostValidation();
  const validOrigin = localhostOriginValidation();
  const serve = toNodeHandler(createMcpHandler(build));
  const http = createServer((req, res) => {
    if (!validHost(req, res) || !validOrigin(req, res)) return;
    if (new URL(req.url, 'http://localhost').pathname !== '/mcp') {
      res.writeHead(404).end();
      return;
    }
    serve(req, res);
  });
  http.listen(port, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` }));
  });
}

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, stdio: { type: 'boolean', default: false } } });
if (values.stdio) {
  serveStdio(build);
} else {
  listen(Number(values.port));
}
