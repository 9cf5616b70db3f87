/** `state-0.3.0.json` is what version 0.3.0 has stored in a window, as its own code wrote it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import stored from './state-0.3.0.json' with { type: 'json' };
import { lastAccount } from '../../../src/extension/account/ui/lastAccount.ts';
import { AccountConnection } from '../../../src/extension/account/accountConnection.ts';
import { Accounts, accountId } from '../../../src/extension/account/accounts.ts';
import { sharedMemory } from '../../../src/extension/agents/sharedMemory.ts';
import { LastCompute } from '../../../src/extension/computes/lastCompute.ts';
import { ConnectionDefaults } from '../../../src/extension/connection/connectionDefaults.ts';
import { hasKnownHosts } from '../../../src/extension/gitBranch/hasKnownHosts.ts';
import { KnownHosts } from '../../../src/extension/gitBranch/knownHosts.ts';
import { AgentBranches, envPlacesOf } from '../../../src/extension/inventory/agentBranches.ts';
import { parsePending, PENDING_ENTRY } from '../../../src/extension/operations/pendingChange.ts';
import { rotationRecords, unprotectedRecords } from '../../../src/extension/recoveryRecords.ts';
import { MemoryMap } from '../../helpers/connectedModel.ts';
import { SecretMap } from '../../helpers/secretMap.ts';
import { writeFiles } from '../../helpers/writeFiles.ts';

const NOW = Date.parse('2026-11-26T12:01:00Z');
const PROJECT = 'shop-000001';
const BRANCH = 'br-feature-000001';

const memoryOf = (entries: object): MemoryMap => {
  const memory = new MemoryMap();
  for (const [entry, value] of Object.entries(entries)) void memory.update(entry, value);
  return memory;
};

describe('The state of a window of version 0.3.0', () => {
  const globalState = memoryOf(stored.globalState);
  const workspaceState = memoryOf(stored.workspaceState);
  let accounts: Accounts;
  let fsPath: string;

  beforeEach(() => {
    const secrets = new SecretMap();
    for (const [entry, value] of Object.entries(stored.secrets)) secrets.entries.set(entry, value);
    accounts = new Accounts(secrets);
    const files = Object.entries(stored.globalStorage).map(([name, content]) => [
      name,
      JSON.stringify(content),
    ]);
    fsPath = writeFiles(Object.fromEntries(files));
  });

  it('has its accounts with their keys, and the current one', async () => {
    const list = await accounts.list();
    assert.deepEqual(list.accounts.map(accountId), ['https://api.example.com/v2#work', 'local']);
    assert.deepEqual(await Promise.all(list.accounts.map((each) => accounts.key(each))), [
      'key of work',
      'key of local',
    ]);
    const { name, organizationId, keyId } = list.current ?? {};
    assert.deepEqual([name, organizationId, keyId], ['work', 'org-one-000001', 7]);
    const memento = { get: (entry: string) => globalState.get(entry) as never };
    assert.equal(lastAccount(memento), 'remote');
  });

  it('has the last compute, login and format of the account', async () => {
    const { current } = await accounts.list();
    assert.ok(current);
    const open = () => Promise.reject(new Error('not used'));
    const session = { connection: new AccountConnection(current, 'key of work', open) };
    const { computeId } = new LastCompute(session, workspaceState).node ?? {};
    assert.equal(computeId, 'ep-cool-lake-000001');
    const defaults = new ConnectionDefaults(session, workspaceState);
    const settings = { role: '', database: '' };
    assert.deepEqual(defaults.propose(PROJECT, settings), { role: 'app_user', database: 'second' });
    assert.deepEqual([defaults.prefersPooled(PROJECT), defaults.format], [true, 'psql']);
  });

  it('has the branches of hosts in env files', () => {
    assert.equal(hasKnownHosts(globalState), true);
    const hosts = new KnownHosts(globalState);
    const [direct, pooled] = ['', '-pooler'].map((suffix) =>
      hosts.get(`ep-cool-lake-000001${suffix}.example.com`),
    );
    assert.deepEqual([direct?.branchId, direct?.isProtected], [BRANCH, true]);
    assert.equal(pooled?.isPooled, true);
  });

  it('follows the change that it left, and reports interrupted ones', () => {
    const [change] = parsePending(workspaceState.get(PENDING_ENTRY), NOW);
    assert.deepEqual([change?.verb, change?.branchId], ['reset', BRANCH]);
    assert.deepEqual(rotationRecords({ fsPath }).all()[0]?.newName, 'laptop 2');
    assert.deepEqual(unprotectedRecords({ fsPath }).all()[0]?.branchId, BRANCH);
  });

  it('has what agents own and have called, and adds to it', () => {
    const memory = sharedMemory(path.join(fsPath, 'agents'));
    const agents = new AgentBranches(memory, () => NOW);
    const own = { account: 'local', projectId: PROJECT, branchId: 'br-agent-000001' };
    const caller = { agent: 'claude', worktree: '/projects/shop' };
    assert.equal(agents.isMadeBy(own, caller), true);
    const branch = agents.find(own);
    assert.ok(branch);
    assert.deepEqual(branch.ownPasswords, true);
    assert.deepEqual(envPlacesOf(branch), [{ envFile: '/projects/shop/.env', envVariable: 'DATABASE_URL' }]);
    assert.equal(agents.wasMadeByAgent({ ...own, branchId: 'br-gone-000001' }), true);
    agents.addCall({ agent: 'claude', tool: 'undo', text: 'Undid', failure: 'It was refused' });
    assert.deepEqual(
      agents.calls.map(({ tool }) => tool),
      ['runSql', 'undo'],
    );
  });
});
