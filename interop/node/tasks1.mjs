// A client on the official TypeScript SDK 1.x that calls each tool as a task, by the experimental tasks of 2025-11-25: it takes
// the task, follows it, answers what it asks, fetches the result, and finds the task in the list.
//
// Usage: node tasks1.mjs URL < plan.json
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { main, target } from './drive.mjs';

// follow runs a call to its end.
async function follow(client, params) {
  const tasks = client.experimental.tasks;
  let id;
  for await (const message of tasks.callToolStream(params, undefined, { task: { ttl: 60000 } })) {
    switch (message.type) {
      case 'taskCreated':
        id = message.task.taskId;
        if (message.task.ttl < 60000) throw new Error(`the task lives ${message.task.ttl} ms`);
        break;
      case 'error':
        if (!id) throw message.error;
        return await tasks.getTaskResult(id, CallToolResultSchema); // of a task that has failed the SDK says no more than that
      case 'result': {
        if (!id) throw new Error('the call did not become a task');
        const again = await tasks.getTaskResult(id, CallToolResultSchema);
        if (JSON.stringify(again.content) !== JSON.stringify(message.result.content)) throw new Error('the result differs when it is fetched again');
        const state = await tasks.getTask(id);
        return { ...message.result, _meta: { ...message.result._meta, status: state.status } };
      }
    }
  }
  throw new Error('the stream of the call ended without a result');
}

await main('typescript-1-tasks', async (plan, report) => {
  const client = new Client({ name: 'typescript-1-tasks', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  await client.connect(new StreamableHTTPClientTransport(target().url));
  report.version = '2025-11-25';
  await client.listTools(); // the SDK learns there which tools run as tasks
  client.callTool = (params) => follow(client, params);
  return client;
});
