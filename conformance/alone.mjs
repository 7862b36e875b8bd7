// Runs each scenario of a requirement set in a run of its own, where the suite's exit code, its time and its warnings
// count, and those about progress and logging ten times: a notification must never come after the answer it belongs to.
// Clients run three at a time, each with a server of its own; the one server that is tested gets one scenario after another.
// A named scenario may also be one of no set, such as those of extensions, and the revision then one without a set.
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
  const listed = requirements ? [...requirements.scored, ...requirements.other.keys()] : [];
  const known = new Set(gaps.filter((gap) => gap.leg === leg && gap.revision === revision && !gap.warning).map(({ scenario }) => scenario));
  return (only ? [only] : listed)
    .filter((scenario) => !known.has(scenario))
    .map((scenario) => ({ scenario, times: /progress|logging/.test(scenario) ? 10 : 1 }));
}

// fault says in words what is wrong with one run, or nothing.
// `shown` says that a check has to succeed.
export function fault({ code, signal }, results, expected = new Set(), shown = false) {
  if (signal) return `it did not end within ${limit / 1000} s`;
  if (results.length === 0) return 'the suite left no result';
  const failures = results.flatMap((result) => result.failures);
  if (failures.length > 0) return failures.join('; ');
  const warnings = results.flatMap((result) => result.warnings).filter(({ id }) => !expected.has(id));
  if (warnings.length > 0) return warnings.map(({ id, text }) => `${id} warns: ${text}`).join('; ');
  if (shown && results.every(({ status }) => status === 'skipped')) return 'no check succeeded';
  if (code !== 0 && expected.size === 0) return `the suite ended with code ${code}`;
  return '';
}

async function once(options, scenario, expected, shown) {
  const output = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const end = await runSuite(suiteArguments({ ...options, scenario }, true, output), limit);
    return fault(end, await readResults(options.leg, output), expected, shown);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

async function main(argv) {
  const { options, gaps, requirements } = await prepare(argv);
  if (!requirements && !options.scenario) throw new UsageError(`the suite has no requirement set for ${options.revision}; name a scenario`);
  const list = plan(requirements, gaps, options);
  if (list.length === 0) throw new UsageError('no scenario is left to run; check the name and the list of known gaps');
  let runs = 0;
  let failed = 0;
  const rest = [...list];
  const worker = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) {
      const { scenario, times } = next;
      const expected = new Set(gaps.filter((gap) => gap.scenario === scenario && gap.warning).map(({ warning }) => warning));
      const shown = Boolean(options.scenario) || requirements.scored.includes(scenario);
      for (let i = 1; i <= times; i++) {
        runs++;
        const wrong = await once(options, scenario, expected, shown);
        if (!wrong) continue;
        failed++;
        console.log(`FAILED  ${scenario}, alone, run ${i} of ${times}: ${wrong}`);
      }
    }
  };
  await Promise.all(Array.from({ length: options.leg === 'client' ? 3 : 1 }, worker));
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
