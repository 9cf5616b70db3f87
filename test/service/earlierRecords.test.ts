import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { encodeLine } from '../../src/service/state/journal.ts';
import { readJournal } from '../../src/service/state/journalReader.ts';
import type { Change } from '../../src/service/state/storedRecords.ts';
import { call } from '../helpers/call.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { until } from '../workbench/until.ts';
import { PROJECT } from './sampleProject.ts';
import { FaultyEngine, startInProcess, type InProcess } from './inProcess.ts';

/** What the settings of {@link earlierCompute} are now. */
const SETTINGS = { pg_settings: { jit: 'off', max_parallel_workers: '2', work_mem: '8MB' } };
const PRIMARY = 'ep-little-smoke-851426';

const without = (value: object, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

/** Returns the record of a compute as version 1 stored it, with a setting that is a number. */
const earlierCompute = (record: object): object => ({
  ...without(record, 'provisioner', 'creation_source'),
  settings: { pg_settings: { jit: false, max_parallel_workers: 2, work_mem: '8MB' } },
});

/** Returns the change as version 1 stored it. */
function earlier(change: Change): unknown {
  if ('removed' in change) return change;
  if (change.set === 'project') {
    const added = ['branch_logical_size_limit_bytes', 'store_passwords', 'active_time', 'creation_source'];
    return { set: 'project', value: without(change.value, ...added, 'owner_id') };
  }
  if (change.set === 'compute')
    return { set: 'compute', value: { ...change.value, record: earlierCompute(change.value.record) } };
  if (change.set === 'branch') {
    const { id, project_id, name, default: isDefault, current_state, created_at, updated_at } = change.value;
    const value = { id, project_id, name, default: isDefault, current_state, created_at, updated_at };
    return { set: 'branch', value };
  }
  if (change.set !== 'operation') return change;
  const { step } = change.value;
  const before = step.kind === 'apply' && { ...step, before: earlierCompute(step.before) };
  const record = without(change.value.record, 'total_duration_ms');
  return { set: 'operation', value: { ...change.value, record, step: before || step } };
}

/** Rewrites the journal in the format of version 1. */
function makeEarlier(folder: string): void {
  const file = path.join(folder, 'account.journal');
  const changes = readJournal(file)?.changes ?? [];
  writeFileSync(file, Buffer.concat([{ format: 1 }, changes.map(earlier)].map(encodeLine)));
}

describe('An account that an earlier version stored', () => {
  const folder = temporaryFolder();
  let test: InProcess;
  const get = async (path: string) =>
    (await call(test.service.baseUrl, { path, key: test.key })).json as Record<string, unknown>;
  const fields = async (path: string, name: string) => {
    const json = await get(path);
    const record = Array.isArray(json[name]) ? json[name][0] : json[name];
    return Object.keys(record as object).toSorted();
  };

  afterEach(() => test.stop());

  it('has the fields of the current version', async () => {
    test = await startInProcess({ folder });
    await until('everything settled', async () => {
      const { items } = await test.client.listComputes(PROJECT);
      return items.every(({ pending_state }) => pending_state === undefined);
    });
    const lists: readonly (readonly [path: string, name: string])[] = [
      ['/projects', 'projects'],
      [`/projects/${PROJECT}`, 'project'],
      [`/projects/${PROJECT}/branches`, 'branches'],
      [`/projects/${PROJECT}/endpoints`, 'endpoints'],
      [`/projects/${PROJECT}/operations`, 'operations'],
    ];
    const before = await Promise.all(lists.map(([path, name]) => fields(path, name)));
    await test.stop();
    makeEarlier(folder);
    test = await startInProcess({ folder });
    assert.deepEqual(await Promise.all(lists.map(([path, name]) => fields(path, name))), before);
    assert.match(readFileSync(path.join(folder, 'account.journal'), 'utf8'), /^\w{8} \{"format":2\}\n/);
  });

  it('has the text of settings that were numbers, and the provisioner of the project', async () => {
    test = await startInProcess({ folder });
    const { endpoint } = await get(`/projects/${PROJECT}/endpoints/${PRIMARY}`);
    assert.deepEqual(Reflect.get(Object(endpoint), 'settings'), SETTINGS);
    assert.equal(Reflect.get(Object(endpoint), 'provisioner'), 'k8s-neonvm');
  });

  it('has branches that come from the default branch', async () => {
    test = await startInProcess({ folder });
    const { branches } = await get(`/projects/${PROJECT}/branches?sort_by=name&sort_order=asc`);
    assert(Array.isArray(branches));
    const main = branches.find(({ default: isDefault }) => isDefault);
    const parents = branches.map(({ parent_id }) => parent_id);
    assert.deepEqual(
      parents,
      branches.map((branch) => (branch === main ? undefined : main.id)),
    );
    assert(parents.includes(main.id));
  });

  it('takes back a failed change to the settings before it', async () => {
    test = await startInProcess({ folder, operationDelay: 1_000 });
    await test.client.updateCompute(PROJECT, PRIMARY, { settings: { pg_settings: { work_mem: '9MB' } } });
    await test.stop();
    makeEarlier(folder);
    const engine = new FaultyEngine();
    engine.fail('applyConfig', 'No.');
    test = await startInProcess({ folder, engine });
    await until('the change failed', async () => {
      const { operations } = await get(`/projects/${PROJECT}/operations?limit=1`);
      return JSON.stringify(operations).includes('"failed"');
    });
    const { endpoint } = await get(`/projects/${PROJECT}/endpoints/${PRIMARY}`);
    assert.deepEqual(Reflect.get(Object(endpoint), 'settings'), SETTINGS);
  });
});
