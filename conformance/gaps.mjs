// The list of known gaps, known-gaps.yml: scenarios of the official suite that fail, and checks that warn, each with its
// cause.
import { LineCounter, parseDocument } from 'yaml';

const members = ['leg', 'revision', 'scenario', 'warning', 'cause'];

// parseGaps reads the list. It refuses unknown and missing members and entries that stand twice, each with its line.
export function parseGaps(text, file = 'known-gaps.yml') {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0].message}`);
  const list = document.toJS() ?? [];
  if (!Array.isArray(list)) throw new Error(`${file}: the file must hold one list`);
  const seen = new Set();
  return list.map((entry, i) => {
    const line = lines.linePos(document.contents.items[i].range[0]).line;
    const where = `${file}:${line}`;
    checkEntry(entry, where);
    const gap = { leg: 'server', ...entry, line };
    const key = [gap.leg, gap.revision, gap.scenario, gap.warning].filter(Boolean).join(' ');
    if (seen.has(key)) throw new Error(`${where}: ${key} stands twice`);
    seen.add(key);
    return gap;
  });
}

function checkEntry(entry, where) {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) throw new Error(`${where}: an entry must have revision, scenario and cause`);
  for (const member of Object.keys(entry)) {
    if (!members.includes(member)) throw new Error(`${where}: unknown member ${member}; known are ${members.join(', ')}`);
  }
  for (const member of ['revision', 'scenario', 'cause', ...('warning' in entry ? ['warning'] : [])]) {
    if (typeof entry[member] !== 'string' || entry[member].trim() === '') throw new Error(`${where}: ${member} is missing or no text`);
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(entry.revision)) throw new Error(`${where}: revision ${entry.revision} is no date`);
  if (entry.leg !== undefined && entry.leg !== 'server' && entry.leg !== 'client') throw new Error(`${where}: leg is server or client`);
}

// compare sorts the results of one run by the list. `partial` says that the run was for chosen scenarios only, so that
// an entry without a result proves nothing.
//
// A failure on the list is a gap. Wrong are: a failure, or a check that warns, that is not on the list; an entry whose
// scenario does not fail, or whose check does not warn (stale: take it off the list); an entry whose scenario was not run
// at all.
export function compare(results, gaps, { leg, revision, partial = false }) {
  const listed = new Map();
  const warnings = new Map();
  for (const gap of gaps) {
    if (gap.leg !== leg || gap.revision !== revision) continue;
    if (gap.warning) warnings.set(`${gap.scenario} ${gap.warning}`, gap);
    else listed.set(gap.scenario, gap);
  }
  const out = { passed: [], failed: [], gaps: [], skipped: [], stale: [], unknown: [] };
  const ran = new Set(results.map(({ scenario }) => scenario));
  for (const result of results.map((one) => withoutListed(one, warnings))) {
    const gap = listed.get(result.scenario);
    listed.delete(result.scenario);
    if (result.status === 'failed') {
      if (gap) out.gaps.push({ ...result, cause: gap.cause });
      else out.failed.push(result);
      continue;
    }
    if (result.warnings.length > 0) out.failed.push({ ...result, failures: result.warnings.map(({ id, text }) => `${id} warns: ${text}`) });
    else out[result.status].push(result);
    if (gap) out.stale.push(gap);
  }
  for (const gap of warnings.values()) {
    if (ran.has(gap.scenario)) out.stale.push(gap);
    else listed.set(`${gap.scenario} ${gap.warning}`, gap);
  }
  if (!partial) out.unknown.push(...listed.values());
  return out;
}

// withoutListed takes the warnings off a result that the list expects, and off the list what has been seen.
function withoutListed(result, warnings) {
  const left = [];
  for (const warning of result.warnings ?? []) {
    if (!warnings.delete(`${result.scenario} ${warning.id}`)) left.push(warning);
  }
  return { ...result, warnings: left };
}
