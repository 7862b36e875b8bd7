// Runs the official conformance suite once and compares what fails with the list of known gaps.
//
// Usage: node run.mjs server --url URL --revision REV [--scenario NAME] [--out FOLDER] [--gaps FILE]
//        node run.mjs client --command "CMD ARGS" --revision REV [--scenario NAME] [--out FOLDER] [--gaps FILE]
//
// A revision with a requirement set (2025-11-25, 2026-07-28) is run as that set, scenarios that do not count included;
// an older one as all scenarios that apply to it. The server may still be starting: it gets 20 seconds to answer.
//
// The exit code is 0 when every failure and every warning is on the list and every entry of the list happens, 1 when not,
// 2 when the suite could not be run or the command line is wrong.
//
// The suite needs Node 22; it is run with the Node that package.json installs, whatever runs this file.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compare, parseGaps } from './gaps.mjs';
import { describe } from './report.mjs';
import { complete, readRequirements, readResults } from './results.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const suite = join(here, 'node_modules', '@modelcontextprotocol', 'conformance');
const node = join(here, 'node_modules', 'node', 'bin', 'node');
const env = { ...process.env, NODE_COMPILE_CACHE: join(here, 'node_modules', '.cache') }; // halves the start of a run

export class UsageError extends Error {}

export function parseCommandLine(argv) {
  const options = {
    url: { type: 'string' },
    command: { type: 'string' },
    revision: { type: 'string' },
    scenario: { type: 'string' },
    out: { type: 'string' },
    gaps: { type: 'string', default: join(here, 'known-gaps.yml') }
  };
  let parsed;
  try {
    parsed = parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { values, positionals } = parsed;
  const [leg] = positionals;
  if (positionals.length !== 1 || (leg !== 'server' && leg !== 'client')) throw new UsageError('say server or client');
  if (leg === 'server' && !values.url) throw new UsageError('--url is missing: the address of the running server');
  if (leg === 'client' && !values.command) throw new UsageError('--command is missing: how to start the client');
  if (!values.revision) throw new UsageError('--revision is missing, such as 2026-07-28');
  return { leg, ...values };
}

// suiteArguments are the arguments of the suite's own command line.
export function suiteArguments({ leg, url, command, revision, scenario }, hasSet, output) {
  const args = [leg, ...(leg === 'server' ? ['--url', url] : ['--command', command])];
  if (scenario) args.push('--scenario', scenario, '--spec-version', revision, '--force'); // extensions belong to no revision
  else if (hasSet) args.push('--requirements', revision);
  else args.push('--suite', 'all', '--spec-version', revision);
  return [...args, '--output-dir', output];
}

// runSuite resolves with the exit code and the last lines that the suite printed, or with the signal that ended it after
// the limit. For more than one scenario the code says little: it is 1 for any that fails, known or not, and the result
// folders say which.
export function runSuite(args, timeout = 0) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [join(suite, 'dist', 'index.js'), ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout, env });
    let tail = '';
    const keep = (chunk) => {
      tail = (tail + chunk).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, tail }));
  });
}

// waitFor gives a server that is just being started some seconds to answer anything at all.
export async function waitFor(url, limit = 20_000) {
  const end = Date.now() + limit;
  for (;;) {
    try {
      const response = await fetch(url, { method: 'OPTIONS', signal: AbortSignal.timeout(1000) });
      await response.body?.cancel();
      return;
    } catch (error) {
      if (Date.now() >= end) throw new Error(`nothing answers at ${url}: ${error.cause?.message ?? error.message}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

// prepare reads the command line and what a run is held against, and waits for the server.
export async function prepare(argv) {
  const options = parseCommandLine(argv);
  if (!existsSync(node) || !existsSync(suite)) throw new UsageError('the suite is not installed; run npm ci in the folder conformance');
  const gaps = parseGaps(await readFile(options.gaps, 'utf8'), options.gaps);
  const requirements = await readRequirements(join(suite, 'requirements'), options.leg, options.revision);
  if (options.leg === 'server') await waitFor(options.url);
  return { options, gaps, requirements };
}

async function openOutput(out) {
  if (!out) return mkdtemp(join(tmpdir(), 'conformance-'));
  await mkdir(out, { recursive: true });
  if ((await readdir(out)).length > 0) throw new UsageError(`${out} is not empty; results of another run would be counted too`);
  return out;
}

async function main(argv) {
  const { options, gaps, requirements } = await prepare(argv);
  const output = await openOutput(options.out);
  try {
    const { tail } = await runSuite(suiteArguments(options, requirements !== null, output));
    let results = await readResults(options.leg, output);
    if (results.length === 0) throw new Error(`the suite ran no scenario; it said:\n${tail}`);
    const partial = Boolean(options.scenario);
    if (requirements && !partial) results = complete(results, requirements);
    const verdict = compare(results, gaps, { ...options, partial });
    console.log(describe({ ...options, partial }, verdict, requirements));
    return verdict.failed.length + verdict.stale.length + verdict.unknown.length === 0 ? 0 : 1;
  } finally {
    if (!options.out) await rm(output, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(`conformance: ${error.message}`);
    process.exitCode = 2;
  }
}
