// Runs each scenario of a requirement set in a run of its own, where the suite's exit code, its time and its warnings
// count, and those about progress and logging ten times: a notification must never come after the answer it belongs to.
//
// Usage: node alone.mjs server --url URL --revision REV [--scenario NAME] [--gaps FILE]
//        node alone.mjs client --command "CMD ARGS" --revision REV [--scenario NAME] [--gaps FILE]
//
// The exit code is 0 when every scenario passes that is not a known gap, 1 when not, 2 when the suite could not be run.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readResults } from './results.mjs';
import { prepare, runSuite, suiteArguments, UsageError } from './run.mjs';

const limit = 120_000; // ms for one scenario

// plan lists the scenarios of a set, known gaps left out, each with how often it is run.
export function plan(requirements, gaps, { leg, revision, scenario: only }) {
  const known = new Set(gaps.filter((gap) => gap.leg === leg && gap.revision === revision && !gap.warning).map(({ scenario }) => scenario));
  return [...requirements.scored, ...requirements.other.keys()]
    .filter((scenario) => !known.has(scenario) && (!only || scenario === only))
    .map((scenario) => ({ scenario, times: /progress|logging/.test(scenario) ? 10 : 1 }));
}

// fault says in words what is wrong with one run, or nothing.
export function fault({ code, signal }, results, expected = new Set()) {
  if (signal) return `it did not end within ${limit / 1000} s`;
  if (results.length === 0) return 'the suite left no result';
  const failures = results.flatMap((result) => result.failures);
  if (failures.length > 0) return failures.join('; ');
  const warnings = results.flatMap((result) => result.warnings).filter(({ id }) => !expected.has(id));
  if (warnings.length > 0) return warnings.map(({ id, text }) => `${id} warns: ${text}`).join('; ');
  if (code !== 0 && expected.size === 0) return `the suite ended with code ${code}`;
  return '';
}

async function once(options, scenario, expected) {
  const output = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const end = await runSuite(suiteArguments({ ...options, scenario }, true, output), limit);
    return fault(end, await readResults(options.leg, output), expected);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

async function main(argv) {
  const { options, gaps, requirements } = await prepare(argv);
  if (!requirements) throw new UsageError(`the suite has no requirement set for ${options.revision}`);
  const list = plan(requirements, gaps, options);
  if (list.length === 0) throw new UsageError('no scenario is left to run; check the name and the list of known gaps');
  let runs = 0;
  let failed = 0;
  for (const { scenario, times } of list) {
    const expected = new Set(gaps.filter((gap) => gap.scenario === scenario && gap.warning).map(({ warning }) => warning));
    for (let i = 1; i <= times; i++) {
      runs++;
      const wrong = await once(options, scenario, expected);
      if (!wrong) continue;
      failed++;
      console.log(`FAILED  ${scenario}, alone, run ${i} of ${times}: ${wrong}`);
    }
  }
  console.log(`${options.leg} ${options.revision}, each alone: ${list.length} scenarios, ${runs} runs, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(`conformance: ${error.message}`);
    process.exitCode = 2;
  }
}
