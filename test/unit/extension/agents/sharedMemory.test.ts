import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { sharedMemory } from '../../../../src/extension/agents/sharedMemory.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

const count = (values: Readonly<Record<string, unknown>>) => Number(values['count'] ?? 0);

describe('The memory that processes share', () => {
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  it('loses no change of several processes', async () => {
    const folder = temporaryFolder();
    const module = new URL('../../../../src/extension/agents/sharedMemory.ts', import.meta.url);
    const script = path.join(folder, 'process.mjs');
    writeFileSync(
      script,
      `import { sharedMemory } from ${JSON.stringify(module)};
      const memory = sharedMemory(${JSON.stringify(folder)});
      process.send('ready');
      await new Promise((resolve) => process.once('message', resolve));
      for (let times = 0; times < 40; times += 1)
        memory.change((values) => ({ ...values, count: (values.count ?? 0) + 1 }));
      process.disconnect();`,
    );
    const processes = Array.from({ length: 4 }, () => fork(script));
    const failure = (each: ChildProcess) => once(each, 'exit').then(() => assert.fail('A process ended'));
    await Promise.all(processes.map((each) => Promise.race([once(each, 'message'), failure(each)])));
    for (const each of processes) each.send('go');
    assert.deepEqual(
      await Promise.all(processes.map(async (each) => (await once(each, 'exit'))[0])),
      [0, 0, 0, 0],
    );
    assert.equal(count(sharedMemory(folder).values()), 160);
    if (process.platform !== 'win32')
      assert.equal(statSync(path.join(folder, 'agents-160.json')).mode & 0o777, 0o600);
  });

  it('begins with what there was, and sees the changes of others', () => {
    const folder = path.join(temporaryFolder(), 'agents');
    const [one, two] = [sharedMemory(folder, () => ({ count: 5 })), sharedMemory(folder)];
    assert.deepEqual([count(one.values()), count(two.values())], [5, 0]);
    one.change((values) => ({ count: count(values) + 1 }));
    assert.equal(count(two.values()), 6);
    two.change((values) => ({ count: count(values) + 1 }));
    assert.equal(count(one.values()), 7);
  });

  it('takes the version before one that a loss of power has left empty', () => {
    const folder = temporaryFolder();
    sharedMemory(folder).change(() => ({ count: 3 }));
    writeFileSync(path.join(folder, 'agents-2.json'), '', { mode: 0o600 });
    sharedMemory(folder).change((values) => ({ count: count(values) + 1 }));
    assert.equal(count(sharedMemory(folder).values()), 4);
    assert(existsSync(path.join(folder, 'agents-3.json')));
  });

  it('makes no change if the system can not read the file', () => {
    const folder = temporaryFolder();
    sharedMemory(folder).change(() => ({ count: 3 }));
    mock.method(fs, 'readFileSync', () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    syncBuiltinESMExports();
    assert.throws(() => sharedMemory(folder).change(() => ({})), /agents-1\.json can't be read/);
    mock.restoreAll();
    syncBuiltinESMExports();
    assert.equal(count(sharedMemory(folder).values()), 3);
  });

  it('takes no older version if the system can not read the newest one for a moment', () => {
    const folder = temporaryFolder();
    for (const value of [1, 2]) sharedMemory(folder).change(() => ({ count: value }));
    const { readFileSync } = fs;
    mock.method(fs, 'readFileSync', (...args: Parameters<typeof readFileSync>) => {
      if (String(args[0]).endsWith('agents-2.json'))
        throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      return readFileSync(...args);
    });
    syncBuiltinESMExports();
    const memory = sharedMemory(folder);
    assert.throws(() => memory.change(() => ({})), /agents-2\.json can't be read/);
    assert.throws(() => memory.values(), /agents-2\.json can't be read/);
    mock.restoreAll();
    syncBuiltinESMExports();
    memory.change((values) => ({ count: count(values) + 1 }));
    assert.equal(count(sharedMemory(folder).values()), 3);
  });

  it('keeps old versions for a minute', () => {
    const folder = temporaryFolder();
    const memory = sharedMemory(folder);
    const change = () => memory.change((values) => ({ count: count(values) + 1 }));
    for (let times = 0; times < 5; times += 1) change();
    const age = (version: number, seconds: number) =>
      utimesSync(path.join(folder, `agents-${version}.json`), 0, Date.now() / 1000 - seconds);
    for (const version of [1, 2, 5]) age(version, 61);
    age(3, 55);
    change();
    assert.deepEqual(
      readdirSync(folder).toSorted(),
      [3, 4, 5, 6].map((version) => `agents-${version}.json`),
    );
    assert.equal(count(memory.values()), 6);
  });

  it('makes a change again if another was faster', () => {
    const folder = temporaryFolder();
    const [slow, fast] = [sharedMemory(folder), sharedMemory(folder)];
    for (const others of [1, 8, 20]) {
      const before = count(slow.values());
      let isFirst = true;
      slow.change((values) => {
        for (let times = 0; isFirst && times < others; times += 1)
          fast.change((current) => ({ count: count(current) + 1 }));
        isFirst = false;
        return { count: count(values) + 1 };
      });
      assert.equal(count(fast.values()), before + others + 1);
    }
  });
});
