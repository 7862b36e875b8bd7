// Puts the verdict of one run into words.

// describe returns one line for each scenario that needs a look, and the totals.
export function describe({ leg, revision, partial }, verdict, requirements) {
  const lines = [];
  for (const { scenario, failures } of verdict.failed) lines.push(`FAILED  ${scenario}${aside(scenario, requirements)}`, ...failures.map((text) => `          ${text}`));
  for (const { scenario, cause, failures } of verdict.gaps) lines.push(`gap     ${scenario}${aside(scenario, requirements)}: ${cause} (failing: ${failures.length})`);
  for (const { scenario } of verdict.skipped) lines.push(`skipped ${scenario}${aside(scenario, requirements)}`);
  for (const { scenario, warning, line } of verdict.stale) lines.push(`STALE   ${scenario} does not ${warning ? `warn of ${warning}` : 'fail'} any more; take line ${line} off the list of known gaps`);
  for (const { scenario, line } of verdict.unknown) lines.push(`UNKNOWN ${scenario} was not run; correct line ${line} of the list of known gaps`);
  lines.push(`${leg} ${revision}: ${totals(verdict)}; ${checks(verdict)}`);
  if (requirements && !partial) lines.push(`${leg} ${revision}, scored only: ${totals(only(verdict, requirements.scored))}`);
  return lines.join('\n');
}

function aside(scenario, requirements) {
  const reason = requirements?.other.get(scenario);
  return reason ? ` (not scored: ${reason})` : '';
}

function totals({ passed, failed, gaps, skipped }) {
  return `${passed.length} passed, ${failed.length} failed, ${gaps.length} known gaps, ${skipped.length} skipped`;
}

function checks({ passed, failed, gaps, skipped }) {
  const sum = (member) => [...passed, ...failed, ...gaps, ...skipped].reduce((total, result) => total + result[member], 0);
  return `checks: ${sum('passed')} passed, ${sum('failed')} failed, ${sum('warned')} warnings`;
}

function only(verdict, scored) {
  const keep = (list) => list.filter(({ scenario }) => scored.includes(scenario));
  return { passed: keep(verdict.passed), failed: keep(verdict.failed), gaps: keep(verdict.gaps), skipped: keep(verdict.skipped) };
}
