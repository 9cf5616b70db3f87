import assert from 'node:assert/strict';
import type { Branch, Compute } from '../../../../src/api/records/records.ts';
import { hasKnownHosts } from '../../../../src/extension/gitBranch/hasKnownHosts.ts';
import { isKnownExpired, KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { connectScripted, MemoryMap } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

describe('KnownHosts', () => {
  let memory: MemoryMap;
  let hosts: KnownHosts;
  let computes: Compute[];
  let branches: Map<string, Branch>;
  const host = 'ep-a-1.example.com';
  const inventory = {
    allComputes: function* () {
      yield* computes;
    },
    project: (id: string) => ({ id, name: 'Shop' }),
    computesOf: () => undefined,
    branches: {
      get: (_: string, id: string) => branches.get(id),
      forProject: () => ({ branches, isListed: (id: string) => branches.has(id) }),
    },
  } as unknown as Parameters<KnownHosts['refresh']>[0];
  const refresh = (...wanted: string[]) => hosts.refresh(inventory, 'local', wanted);

  beforeEach(() => {
    memory = new MemoryMap();
    hosts = new KnownHosts(memory);
    computes = [computeRecord('ep-a-1', { host, branch_id: 'br-one' })];
    branches = new Map([['br-one', { id: 'br-one', name: 'feature', expires_at: '2030-01-01T00:00:00Z' }]]);
  });

  it('finds the branch of a host, which is expired from that time on', async () => {
    await refresh(host);
    const known = hosts.get(host);
    assert.ok(known?.isPooled === false);
    assert.deepEqual(hosts.find(known), known);
    assert.equal(hosts.find({ ...known, branchId: 'br-two' }), undefined);
    const end = Date.parse('2030-01-01T00:00:00Z');
    assert.deepEqual(
      [end - 1, end, end + 1].map((now) => isKnownExpired(known, now)),
      [false, true, true],
    );
    assert.equal(isKnownExpired({ ...known, expiresAt: undefined }, end), false);
    assert.equal(isKnownExpired(undefined, end), false);
  });

  it('remembers only hosts of env files, also pooled ones', async () => {
    await refresh();
    assert.deepEqual([hasKnownHosts(memory), hosts.isEmpty], [false, true]);
    await refresh('EP-a-1-pooler.example.com:5432');
    assert.deepEqual([hasKnownHosts(memory), hosts.isEmpty], [true, false]);
    assert.equal(hosts.get(host), undefined);
    assert.deepEqual(hosts.get('ep-a-1-pooler.example.com'), {
      account: 'local',
      projectId: computes[0]?.project_id,
      projectName: 'Shop',
      branchId: 'br-one',
      branchName: 'feature',
      isPooled: true,
      isProtected: false,
      expiresAt: '2030-01-01T00:00:00Z',
      isDeleted: false,
    });
  });

  it('finds a pooled host that the service names, as on a port of this machine', async () => {
    computes = [
      computeRecord('ep-a-1', {
        host: '127.0.0.1:15432',
        pooler_host: '127.0.0.1:15433',
        pooler_enabled: true,
      }),
    ];
    await refresh('127.0.0.1:15433');
    assert.equal(hosts.get('127.0.0.1:15433')?.isPooled, true);
  });

  it('follows changes of a branch, and fires only for those', async () => {
    await refresh(host);
    let changes = 0;
    hosts.onDidChange(() => (changes += 1));
    await refresh();
    assert.equal(changes, 0);
    branches.set('br-one', { id: 'br-one', name: 'renamed', protected: true });
    await refresh();
    assert.equal(changes, 1);
    assert.equal(hosts.get(host)?.branchName, 'renamed');
    assert.equal(hosts.get(host)?.isProtected, true);
    assert.equal(hosts.get(host)?.expiresAt, undefined);
  });

  it('keeps what it knows of a branch until the branches are loaded', async () => {
    branches.set('br-one', {
      id: 'br-one',
      name: 'staging',
      protected: true,
      expires_at: '2030-01-01T00:00:00Z',
    });
    await refresh(host);
    const known = hosts.get(host);
    branches.clear();
    await hosts.remember(inventory, 'local', computes);
    await refresh(host);
    assert.deepEqual(hosts.get(host), known);
    assert.equal(known?.isProtected, true);
  });

  it('knows deleted branches, and those of another account longer', async () => {
    await refresh(host);
    computes = [];
    branches.clear();
    await hosts.refresh(inventory, 'https://other.example.com', []);
    assert.equal(hosts.get(host)?.isDeleted, false);
    await refresh();
    assert.equal(hosts.get(host)?.isDeleted, true);
  });

  it('asks whether a project that is no longer listed was deleted, for the hosts in env files', async () => {
    const { inventory: real, ...model } = await connectScripted((call) =>
      call.endsWith('/projects') ? { projects: [] } : 404,
    );
    const refreshWith = async (...inFiles: string[]) =>
      hosts.refresh(real, accountId(model.account), inFiles);
    await hosts.remember(real, accountId(model.account), computes);
    const { projectId = '' } = hosts.get(host) ?? {};
    await real.refreshProjects();
    await refreshWith();
    assert.equal(real.computesOf(projectId), undefined);
    const asked = new Promise<void>((resolve) => real.onDidChange(() => resolve()));
    await refreshWith(host);
    await asked;
    await refreshWith(host);
    assert.equal(hosts.get(host)?.isDeleted, true);
  });

  it('does not count a project of another organization as deleted', async () => {
    const { inventory: real, ...model } = await connectScripted((call) =>
      call.endsWith('/projects') ? { projects: [] } : call.endsWith('/branches') ? 404 : { endpoints: [] },
    );
    await hosts.remember(real, accountId(model.account), computes);
    await real.refreshProjects();
    await real.ensureComputes(hosts.get(host)?.projectId ?? '');
    await hosts.refresh(real, accountId(model.account), [host]);
    assert.equal(hosts.get(host)?.isDeleted, false);
  });

  it('finds a branch by account, project and id', async () => {
    await refresh(host);
    const projectId = computes[0]?.project_id ?? '';
    const ref = { account: 'local', projectId, branchId: 'br-one' };
    assert.equal(hosts.find(ref)?.branchName, 'feature');
    for (const other of [{ account: 'x' }, { projectId: 'x' }, { branchId: 'br-two' }])
      assert.equal(hosts.find({ ...ref, ...other }), undefined);
  });

  it('takes a host over for another compute, as on a reused port', async () => {
    await refresh(host);
    computes = [computeRecord('ep-b-2', { host, branch_id: 'br-two' })];
    await refresh();
    assert.equal(hosts.get(host)?.branchId, 'br-two');
  });

  it('keeps the 200 hosts that were added or changed last', async () => {
    const names = Array.from({ length: 202 }, (_, index) => `127.0.0.1:${10_000 + index}`);
    const on = (name: string, branch_id = 'br-one') => computeRecord('ep-a-1', { host: name, branch_id });
    const dropped = () => names.filter((name) => hosts.get(name) === undefined);
    computes = names.slice(0, 201).map((name) => on(name));
    await refresh(...names.slice(0, 201));
    assert.deepEqual(dropped(), [names[0], names[201]]);
    await hosts.remember(inventory, 'local', [on(names[1] ?? '', 'br-two')]);
    await hosts.remember(inventory, 'local', [on(names[201] ?? '')]);
    assert.deepEqual(dropped(), [names[0], names[2]]);
  });

  it('reads what an earlier version stored, without entries in another form', async () => {
    await refresh(host);
    const [entry] = memory.entries.get('hostedPostgres.knownHosts') as readonly unknown[];
    memory.entries.set('hostedPostgres.knownHosts', [['other', { account: 1 }], 'x', entry]);
    assert.equal(hosts.get('other'), undefined);
    assert.equal(hosts.get(host)?.branchName, 'feature');
  });
});
