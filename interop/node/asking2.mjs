// A server on the official TypeScript SDK 2.x that asks before it answers, over its standard input and output. It serves
// both eras: clients of 2026-07-28 get the questions in results, older ones as requests.
//
// Usage: node asking2.mjs
import { McpServer, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const requestedSchema = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['s', 'l'], default: 'l' }, count: { type: 'integer' } },
  required: ['count']
};

function ask(_, ctx) {
  const answers = ctx.mcpReq.inputResponses;
  if (!answers || !answers.form) {
    return inputRequired({
      inputRequests: {
        form: inputRequired.elicit({ message: 'How much?', requestedSchema }),
        page: inputRequired.elicitUrl({ message: 'Look', url: 'https://a.example/' }),
        model: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Hm?' } }],
          maxTokens: 9
        }),
        roots: inputRequired.listRoots()
      },
      requestState: 'kept: +/= é'
    });
  }
  const { form, page, model, roots } = answers;
  const said = { form: form.content, page: page.action, model: model.content.text, roots: roots.roots.map((r) => r.uri) };
  return { content: [{ type: 'text', text: JSON.stringify(said) }] };
}

serveStdio(() => {
  const server = new McpServer({ name: 'asking', version: '1.0.0' });
  server.registerTool('ask', { description: 'Asks for everything', inputSchema: z.object({}) }, ask);
  return server;
});
