// Reads what a run of the official suite left behind: one folder for each scenario with a file checks.json, and the
// requirement sets that the suite ships.
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { parse } from 'yaml';

const timestamp = /-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$/;

// scenarioName takes the leg and the timestamp off a result folder, given relative to the output folder.
export function scenarioName(leg, folder) {
  const name = folder.split(sep).join('/').replace(timestamp, '');
  return leg === 'server' ? name.replace(/^server-/, '') : name;
}

// judge sums up the checks of one scenario. The suite knows SUCCESS, FAILURE, WARNING, INFO and SKIPPED; a failure is
// a failure; a warning is kept beside it. Where nothing succeeded and nothing failed, nothing was shown: status skipped.
export function judge(scenario, checks) {
  if (!Array.isArray(checks)) throw new Error(`${scenario}: checks.json holds no list`);
  const count = { SUCCESS: 0, FAILURE: 0, WARNING: 0, INFO: 0, SKIPPED: 0 };
  const failures = [];
  const warnings = [];
  for (const { id, status, errorMessage } of checks) {
    if (!(status in count)) throw new Error(`${scenario}: check ${id} has the unknown status ${JSON.stringify(status)}`);
    count[status]++;
    if (status === 'FAILURE') failures.push(`${id}: ${firstLine(errorMessage ?? 'no message')}`);
    if (status === 'WARNING') warnings.push({ id, text: firstLine(errorMessage ?? 'no message') });
  }
  const status = count.FAILURE > 0 ? 'failed' : count.SUCCESS > 0 ? 'passed' : 'skipped';
  return { scenario, status, passed: count.SUCCESS, failed: count.FAILURE, warned: count.WARNING, failures, warnings };
}

function firstLine(text) {
  return String(text).split('\n', 1)[0];
}

// readResults finds every checks.json below the output folder; a client scenario's name may hold a slash.
export async function readResults(leg, output) {
  const results = [];
  for (const entry of await readdir(output, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || basename(entry.name) !== 'checks.json') continue;
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const scenario = scenarioName(leg, relative(output, dirname(file)));
    results.push(judge(scenario, JSON.parse(await readFile(file, 'utf8'))));
  }
  return results.sort((a, b) => (a.scenario < b.scenario ? -1 : 1));
}

// readRequirements returns the scenarios of one leg from a requirement set, or null where the suite has no set for the
// revision. `scored` count for conformance; `other` are run beside them, each with the suite's reason not to count it.
export async function readRequirements(folder, leg, revision) {
  let text;
  try {
    text = await readFile(join(folder, `${revision}.yaml`), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  const set = parse(text);
  const other = new Map();
  for (const entry of set.not_scored ?? []) {
    if (entry.leg === leg) other.set(entry.scenario, entry.reason);
  }
  return { scored: set[leg] ?? [], other };
}

// complete adds a failure for each scored scenario that did not run or showed nothing, so that silence is no success.
export function complete(results, requirements) {
  const out = results.map((result) => {
    if (result.status !== 'skipped' || !requirements.scored.includes(result.scenario)) return result;
    return { ...result, status: 'failed', failures: ['no check succeeded'] };
  });
  const ran = new Set(results.map((result) => result.scenario));
  for (const scenario of requirements.scored) {
    if (!ran.has(scenario)) out.push({ scenario, status: 'failed', passed: 0, failed: 0, warned: 0, failures: ['it did not run'], warnings: [] });
  }
  return out;
}
