import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fault, plan } from './alone.mjs';
import { compare, parseGaps } from './gaps.mjs';
import { describe } from './report.mjs';
import { judge } from './results.mjs';
import { parseCommandLine, suiteArguments, waitFor } from './run.mjs';

const entry = (revision, scenario, cause = 'not built yet') => `- revision: ${revision}\n  scenario: ${scenario}\n  cause: ${cause}\n`;
const passed = (scenario) => judge(scenario, [{ id: 'a', status: 'SUCCESS' }]);
const failed = (scenario) => judge(scenario, [{ id: 'a', status: 'FAILURE', errorMessage: 'broken' }]);
const skipped = (scenario) => judge(scenario, [{ id: 'a', status: 'SKIPPED' }]);
const warned = (scenario, id) => judge(scenario, [{ id: 'a', status: 'SUCCESS' }, { id, status: 'WARNING', errorMessage: 'odd' }]);
const names = (list) => list.map(({ scenario }) => scenario);

test('the list in the tree can be read', async () => {
  const text = await readFile(new URL('known-gaps.yml', import.meta.url), 'utf8');
  assert.equal(Array.isArray(parseGaps(text)), true);
});

test('a list', () => {
  const text = `# why\n${entry('2026-07-28', 'caching')}- leg: client\n  revision: "2025-11-25"\n  scenario: auth/basic-cimd\n  cause: no sign-in yet\n`;
  assert.deepEqual(parseGaps(text), [
    { leg: 'server', revision: '2026-07-28', scenario: 'caching', cause: 'not built yet', line: 2 },
    { leg: 'client', revision: '2025-11-25', scenario: 'auth/basic-cimd', cause: 'no sign-in yet', line: 5 }
  ]);
  assert.deepEqual(parseGaps(''), []);
});

test('what is wrong in a list is named with its line', () => {
  for (const [text, message] of [
    ['a: b', /the file must hold one list/],
    ['- a: [', /known-gaps.yml: /],
    ['- caching', /known-gaps.yml:1: an entry must have revision, scenario and cause/],
    [entry('2026-07-28', 'a') + '- revision: 2026-07-28\n  scenario: b\n', /known-gaps.yml:4: cause is missing/],
    [entry('2026-07-28', 'a', '" "'), /:1: cause is missing/],
    [entry('newest', 'a'), /:1: revision newest is no date/],
    [entry('2026-07-28', 'a') + '  since: today\n', /:1: unknown member since/],
    [entry('2026-07-28', 'a') + '  leg: both\n', /:1: leg is server or client/],
    [entry('2026-07-28', 'a') + entry('2026-07-28', 'a'), /:4: server 2026-07-28 a stands twice/]
  ]) {
    assert.throws(() => parseGaps(text), message);
  }
});

test('results against a list', () => {
  const gaps = parseGaps(['gap', 'stale', 'stale-skip', 'typo'].map((name) => entry('2026-07-28', name)).join('') + entry('2025-11-25', 'new'));
  const results = [passed('fine'), failed('new'), failed('gap'), passed('stale'), skipped('stale-skip'), skipped('quiet')];
  const run = { leg: 'server', revision: '2026-07-28' };
  const verdict = compare(results, gaps, run);
  assert.deepEqual(names(verdict.passed), ['fine', 'stale']);
  assert.deepEqual(names(verdict.failed), ['new']);
  assert.deepEqual(names(verdict.gaps), ['gap']);
  assert.deepEqual(names(verdict.skipped), ['stale-skip', 'quiet']);
  assert.deepEqual(names(verdict.stale), ['stale', 'stale-skip']);
  assert.deepEqual(names(verdict.unknown), ['typo']);
  assert.deepEqual(compare([], gaps, { ...run, partial: true }).unknown, []);
  assert.deepEqual(names(compare([failed('gap')], gaps, { ...run, leg: 'client' }).failed), ['gap']);
});

test('warnings against a list', () => {
  const listed = (scenario, warning) => entry('2026-07-28', scenario) + `  warning: ${warning}\n`;
  const gaps = parseGaps(listed('odd', 'w1') + listed('odd', 'w2') + listed('fine', 'w3') + listed('typo', 'w4'));
  const verdict = compare([warned('odd', 'w1'), warned('new', 'w1'), passed('fine')], gaps, { leg: 'server', revision: '2026-07-28' });
  assert.deepEqual(names(verdict.passed), ['odd', 'fine']);
  assert.deepEqual(
    verdict.failed.map(({ scenario, failures }) => [scenario, failures]),
    [['new', ['w1 warns: odd']]]
  );
  assert.deepEqual(
    verdict.stale.map(({ scenario, warning }) => [scenario, warning]),
    [['odd', 'w2'], ['fine', 'w3']]
  );
  assert.deepEqual(names(verdict.unknown), ['typo']);
  assert.match(describe({ leg: 'server', revision: '2026-07-28' }, verdict), /STALE {3}odd does not warn of w2 any more; take line 5 off/);
});

test('scenarios alone', () => {
  const requirements = { scored: ['ping', 'tools-call-with-logging'], other: new Map([['tasks', 'extension']]) };
  const run = { leg: 'server', revision: '2026-07-28' };
  assert.deepEqual(plan(requirements, parseGaps(entry('2026-07-28', 'tasks')), run), [
    { scenario: 'ping', times: 1 },
    { scenario: 'tools-call-with-logging', times: 10 }
  ]);
  assert.deepEqual(plan(requirements, [], { ...run, scenario: 'tasks' }), [{ scenario: 'tasks', times: 1 }]);
  assert.deepEqual(plan(null, [], { ...run, revision: '2025-03-26', scenario: 'old' }), [{ scenario: 'old', times: 1 }]);
  const ended = { code: 0, signal: null };
  assert.equal(fault(ended, [passed('a')]), '');
  assert.equal(fault(ended, [warned('a', 'w')]), 'w warns: odd');
  assert.equal(fault({ code: 1, signal: null }, [warned('a', 'w')], new Set(['w'])), '');
  assert.equal(fault({ code: 1, signal: null }, [failed('a')]), 'a: broken');
  assert.equal(fault({ code: 1, signal: null }, [passed('a')]), 'the suite ended with code 1');
  assert.equal(fault(ended, []), 'the suite left no result');
  assert.equal(fault(ended, [skipped('a')], new Set(), true), 'no check succeeded');
  assert.equal(fault(ended, [skipped('a')]), '');
  assert.match(fault({ code: null, signal: 'SIGTERM' }, []), /did not end/);
});

test('the words of a verdict', () => {
  const gaps = parseGaps(entry('2026-07-28', 'gap') + entry('2026-07-28', 'stale') + entry('2026-07-28', 'typo'));
  const run = { leg: 'server', revision: '2026-07-28' };
  const verdict = compare([failed('new'), failed('gap'), passed('stale'), skipped('quiet')], gaps, run);
  const requirements = { scored: ['new', 'stale'], other: new Map([['gap', 'pending']]) };
  assert.equal(
    describe(run, verdict, requirements),
    [
      'FAILED  new',
      '          a: broken',
      'gap     gap (not scored: pending): not built yet (failing: 1)',
      'skipped quiet',
      'STALE   stale does not fail any more; take line 4 off the list of known gaps',
      'UNKNOWN typo was not run; correct line 7 of the list of known gaps',
      'server 2026-07-28: 1 passed, 1 failed, 1 known gaps, 1 skipped; checks: 1 passed, 2 failed, 0 warnings',
      'server 2026-07-28, scored only: 1 passed, 1 failed, 0 known gaps, 0 skipped'
    ].join('\n')
  );
});

test('command lines', () => {
  const server = { leg: 'server', url: 'http://127.0.0.1:1/mcp', revision: '2026-07-28' };
  assert.deepEqual(suiteArguments(server, true, 'out'), ['server', '--url', server.url, '--requirements', '2026-07-28', '--output-dir', 'out']);
  assert.deepEqual(suiteArguments({ ...server, revision: '2025-06-18' }, false, 'out').slice(3, 7), ['--suite', 'all', '--spec-version', '2025-06-18']);
  assert.deepEqual(suiteArguments({ ...server, scenario: 'ping' }, true, 'out').slice(3, 8), ['--scenario', 'ping', '--spec-version', '2026-07-28', '--force']);
  assert.equal(parseCommandLine(['client', '--command', 'go run .', '--revision', '2025-11-25']).command, 'go run .');
  for (const [argv, message] of [
    [[], /say server or client/],
    [['server', 'client'], /say server or client/],
    [['server', '--revision', '2026-07-28'], /--url is missing/],
    [['client', '--revision', '2026-07-28'], /--command is missing/],
    [['server', '--url', 'http://x'], /--revision is missing/],
    [['server', '--port', '1'], /--port/]
  ]) {
    assert.throws(() => parseCommandLine(argv), message);
  }
});

test('waiting for a server', async () => {
  const server = createServer((_, response) => response.writeHead(405).end());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/mcp`;
  await waitFor(url, 5000);
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  await assert.rejects(waitFor(url, 0), /nothing answers at http/);
});
