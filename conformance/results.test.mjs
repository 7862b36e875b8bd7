import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { complete, judge, readRequirements, readResults, scenarioName } from './results.mjs';

const recorded = (leg) => fileURLToPath(new URL(`testdata/${leg}`, import.meta.url));

test('the recorded server run', async () => {
  const results = await readResults('server', recorded('server'));
  assert.deepEqual(
    results.map(({ scenario, status, passed, failed }) => [scenario, status, passed, failed]),
    [
      ['http-header-validation', 'passed', 14, 0],
      ['tasks-status-notifications', 'skipped', 0, 0],
      ['tools-call-audio', 'failed', 1, 1],
      ['tools-list', 'passed', 4, 0]
    ]
  );
  assert.deepEqual(results[2].failures, ['tools-call-audio: Failed: Tool test_audio_content not found']);
});

test('the recorded client run, with a slash in a name', async () => {
  const results = await readResults('client', recorded('client'));
  assert.deepEqual(
    results.map(({ scenario, status }) => [scenario, status]),
    [
      ['auth/resource-mismatch', 'failed'],
      ['http-standard-headers', 'skipped'],
      ['tools_call', 'failed']
    ]
  );
});

test('names of result folders', () => {
  const stamp = '-2026-11-29T23-23-20-077Z';
  for (const [leg, folder, want] of [
    ['server', `server-ping${stamp}`, 'ping'],
    ['server', `server-server-stateless${stamp}`, 'server-stateless'],
    ['server', `server-json-schema-2020-12${stamp}`, 'json-schema-2020-12'],
    ['client', `auth/basic-cimd${stamp}`, 'auth/basic-cimd']
  ]) {
    assert.equal(scenarioName(leg, folder), want);
  }
});

test('one scenario', () => {
  const statuses = (...list) => list.map((status, i) => ({ id: `check-${i}`, status }));
  for (const [checks, status] of [
    [statuses('SUCCESS'), 'passed'],
    [statuses('SUCCESS', 'WARNING', 'INFO', 'SKIPPED'), 'passed'],
    [statuses('SUCCESS', 'FAILURE'), 'failed'],
    [statuses('SKIPPED', 'FAILURE'), 'failed'],
    [statuses('SKIPPED'), 'skipped'],
    [statuses('INFO', 'WARNING'), 'skipped'],
    [[], 'skipped']
  ]) {
    assert.equal(judge('x', checks).status, status);
  }
  assert.deepEqual(judge('x', [{ id: 'a', status: 'FAILURE', errorMessage: 'no\nmore' }, { id: 'b', status: 'FAILURE' }]).failures, ['a: no', 'b: no message']);
});

test('what is not a result is refused', () => {
  assert.throws(() => judge('x', {}), /x: checks.json holds no list/);
  assert.throws(() => judge('x', [{ id: 'a', status: 'PASSED' }]), /check a has the unknown status "PASSED"/);
});

test('a scored scenario that shows nothing or does not run fails', () => {
  const skipped = (scenario) => judge(scenario, []);
  const requirements = { scored: ['silent', 'missing'], other: new Map([['extra', 'extension']]) };
  assert.deepEqual(
    complete([skipped('silent'), skipped('extra')], requirements).map(({ scenario, status, failures }) => [scenario, status, failures]),
    [
      ['silent', 'failed', ['no check succeeded']],
      ['extra', 'skipped', []],
      ['missing', 'failed', ['it did not run']]
    ]
  );
});

test('requirement sets', async (t) => {
  const folder = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/requirements', import.meta.url));
  await t.test('scored and other scenarios of a leg', async () => {
    const set = await readRequirements(folder, 'server', '2025-11-25');
    assert.equal(set.scored.includes('ping'), true);
    assert.equal(set.other.get('server-session-lifecycle'), 'added-after-release');
    const client = await readRequirements(folder, 'client', '2025-11-25');
    assert.equal(client.scored.includes('ping'), false);
    assert.equal(client.other.has('server-session-lifecycle'), false);
  });
  await t.test('a revision without a set', async () => {
    assert.equal(await readRequirements(folder, 'server', '2025-06-18'), null);
  });
});
