// What both client drivers share: the command line, the plan, and the report (their shapes stand in ../plan.go).

// target reads the command line: either one URL, or `--` followed by a command and its arguments.
export function target(argv = process.argv.slice(2)) {
  if (argv[0] === '--' && argv.length > 1) {
    return { command: argv[1], args: argv.slice(2) };
  }
  if (argv.length === 1 && /^https?:/.test(argv[0])) {
    return { url: new URL(argv[0]) };
  }
  throw new Error('give one http URL, or -- and a command; the plan is read as JSON from standard input');
}

export async function readPlan() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

// requestInit is what goes with every HTTP request.
export function requestInit({ token }) {
  return token ? { headers: { Authorization: `Bearer ${token}` } } : {};
}

// capabilities and answers are what a client of the plan can be asked, and what it says then.
export function capabilities({ answers }) {
  return answers ? { elicitation: {}, sampling: {}, roots: {} } : {};
}

export function answers({ answers }) {
  if (!answers) return {};
  return {
    'elicitation/create': () => ({ action: 'accept', content: answers.form }),
    'sampling/createMessage': () => ({ role: 'assistant', model: answers.model, content: { type: 'text', text: answers.text } }),
    'roots/list': () => ({ roots: answers.roots.map((uri) => ({ uri })) })
  };
}

// main connects, runs every step of the plan and prints the report. A step that fails is part of the report.
export async function main(driver, connect) {
  const report = { driver, steps: [] };
  const plan = await readPlan();
  let client;
  try {
    client = await connect(plan, report);
  } catch (error) {
    report.error = failure(error);
  }
  if (client) {
    for (const step of plan.steps) report.steps.push(await runStep(client, step));
    await client.close();
  }
  process.stdout.write(JSON.stringify(report) + '\n', () => process.exit(0));
}

async function runStep(client, step) {
  const outcome = {};
  try {
    const run = steps[step.do];
    if (!run) throw new Error(`unknown step ${JSON.stringify(step.do)}`);
    await run(client, step, outcome);
  } catch (error) {
    outcome.error = failure(error);
  }
  return outcome;
}

function failure(error) {
  return { code: Number.isInteger(error?.code) ? error.code : 0, message: String(error?.message ?? error) };
}

const lists = {
  tools: { call: 'listTools', member: 'tools', label: 'name' },
  resources: { call: 'listResources', member: 'resources', label: 'uri' },
  templates: { call: 'listResourceTemplates', member: 'resourceTemplates', label: 'uriTemplate' },
  prompts: { call: 'listPrompts', member: 'prompts', label: 'name' }
};

async function list(client, step, outcome) {
  const { call, member, label } = lists[step.kind];
  const items = [];
  let cursor;
  do {
    const page = await client[call](cursor === undefined ? undefined : { cursor });
    items.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  outcome.names = items.map((item) => item[label]);
  outcome.items = items;
}

// awaitProgress gives notifications that the library delivers after the answer ten seconds to arrive.
async function awaitProgress(seen, wanted) {
  const end = Date.now() + 10_000;
  while (seen.length < wanted && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
}

// progressBook keeps progress by token. Drivers do not use the libraries' onprogress option: both generations drop the
// last notification when it arrives together with the answer, since they run it a moment later than the answer.
const progressBook = new Map();

export function onProgress({ params: { progressToken, _meta, ...value } }) {
  progressBook.get(progressToken)?.push(value);
}

async function call(client, step, outcome) {
  const params = { name: step.name, arguments: step.arguments };
  if (!step.progress) {
    outcome.result = await client.callTool(params);
    return;
  }
  const progressToken = `call-${progressBook.size + 1}`;
  outcome.progress = [];
  progressBook.set(progressToken, outcome.progress);
  outcome.result = await client.callTool({ ...params, _meta: { progressToken } });
  await awaitProgress(outcome.progress, step.progress);
}

const steps = {
  list,
  call,
  async read(client, step, outcome) {
    outcome.result = await client.readResource({ uri: step.uri });
  },
  async prompt(client, step, outcome) {
    outcome.result = await client.getPrompt({ name: step.name, arguments: step.arguments });
  },
  async complete(client, step, outcome) {
    outcome.result = await client.complete({ ref: step.ref, argument: step.argument });
  },
  async ping(client, step, outcome) {
    await client.ping();
    outcome.result = {};
  }
};
