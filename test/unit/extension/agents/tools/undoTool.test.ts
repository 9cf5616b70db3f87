import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import type { ToolInput, ToolOutput } from '../../../../../src/extension/agents/tools/toolTable.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { computeRecord, type Script } from '../../../../helpers/scriptedService.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';

interface Record {
  readonly id: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();
const LATER = new Date(Date.now() + 3_600_000).toISOString();

describe('The tool undo', () => {
  let model: ScriptedModel;
  let branches: Record[];
  let schemaChanges: object[];
  let slots: string[];
  let sent: {
    readonly source_branch_id: string;
    readonly source_timestamp?: string;
    readonly preserve_under_name: string;
  }[];

  const script: Script = (call, _query, body) => {
    if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
    const compute = computeRecord('ep-mine', { branch_id: 'br-mine', host: '127.0.0.1:1' });
    if (call.endsWith('/endpoints')) return { endpoints: [compute] };
    if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'owner' }] };
    if (call.endsWith('/roles')) return { roles: [{ name: 'owner' }] };
    if (call.endsWith('/connection_uri')) return { uri: 'postgresql://owner:pw@127.0.0.1:1/app' };
    if (call.endsWith('/changes')) return { schema_changes: schemaChanges };
    if (call.endsWith('/reader')) return 404;
    if (call.endsWith('/replication_slots')) return { replication_slots: slots };
    if (call.startsWith('GET') && call.endsWith('/branches')) return { branches };
    const restore = body as (typeof sent)[number];
    sent.push(restore);
    const name = restore.preserve_under_name;
    branches.push({ id: `br-kept-${branches.length}`, name, created_at: YESTERDAY, expires_at: LATER });
    return { branch: branches[1], operations: [] };
  };

  const refOf = (branchId: string) => ({ account: accountId(model.account), projectId: 'shop', branchId });
  const call = (input: Partial<ToolInput<'undo'>> = {}, folder?: string) =>
    callTool(
      toolDependencies(model),
      'undo',
      { projectId: 'shop', branchId: 'br-mine', ...input },
      { folder },
    ) as Promise<ToolOutput<'undo'>>;

  beforeEach(async () => {
    answers.length = questions.length = 0;
    [sent, schemaChanges, slots] = [[], [], []];
    branches = [
      { id: 'br-main', name: 'main', default: true, created_at: YESTERDAY },
      { id: 'br-mine', name: 'mine', parent_id: 'br-main', created_at: YESTERDAY, expires_at: LATER },
    ];
    model = await connectScripted(script);
    const made = { name: 'mine', agent: 'claude', createdAt: YESTERDAY, expiresAt: LATER };
    model.agentBranches.add({ ...refOf('br-mine'), ...made });
  });

  it('lists moments, with the commits of the worktree, and changes nothing', async () => {
    const time = new Date(Date.now() - 60_000).toISOString().replace('Z', '123Z');
    const counts = { created: 2, altered: 0, dropped: 1, truncated: 0, migrations: 3 };
    schemaChanges.push({ ...counts, before: time, lsn: '0/15000A8' });
    // The commit is older than the marker, also if the second ends between the two.
    const { folder } = createRepository();
    model.markers.add(refOf('br-mine'), { kind: 'agent', text: 'DROP TABLE users', by: 'claude' });
    const { moments = [] } = await call({}, folder);
    const before = moments.map((moment) => moment.before);
    assert.equal(before[0], 'claude: DROP TABLE users');
    assert.equal(
      moments.find(({ to }) => to === time)?.before,
      'a change of the schema (3 migrations, 2 created, 1 dropped)',
    );
    assert.ok(before.includes('the last 5 minutes'));
    assert.ok(before.some((text) => /^git commit First \([0-9a-f]{7}\)$/.test(text)));
    assert.deepEqual(sent, []);
  });

  it('takes its own branch back without a question, and names what keeps its data', async () => {
    model.markers.add(refOf('br-mine'), { kind: 'agent', text: 'DROP TABLE users', by: 'claude' });
    const [moment] = (await call()).moments ?? [];
    const { keptAs } = await call({ to: moment?.to ?? '' });
    assert.match(keptAs ?? '', /^before-undo-\d\d-\d\d \(br-kept-2\)$/);
    assert.deepEqual(questions, []);
    assert.equal(sent[0]?.source_branch_id, 'br-mine');
    assert.equal(sent[0]?.source_timestamp, moment?.to);
    // The copy is the agent's as well.
    assert.equal(model.agentBranches.find(refOf('br-kept-2'))?.expiresAt, LATER);
  });

  it('goes back to the position of a listed moment, and to a time that is no longer listed', async () => {
    const time = new Date(Date.now() - 60_000).toISOString().replace('Z', '123Z');
    const counts = { created: 2, altered: 0, dropped: 1, truncated: 0, migrations: 3 };
    schemaChanges.push({ ...counts, before: time, lsn: '0/15000A8' });
    await call({ to: time });
    // The log of the branch ends there now. The other branch has what followed.
    schemaChanges.length = 0;
    await call({ to: time });
    const [position, past] = sent.map((each) => ({ ...each, preserve_under_name: '' }));
    assert.deepEqual(position, {
      source_branch_id: 'br-mine',
      source_lsn: '0/15000A8',
      preserve_under_name: '',
    });
    assert.deepEqual(past, {
      source_branch_id: 'br-kept-2',
      source_timestamp: new Date(time).toISOString(),
      preserve_under_name: '',
    });
  });

  it('returns which replication slots end', async () => {
    slots = ['zero_0'];
    const { note } = await call({ to: '20 min ago' });
    assert.match(String(note), /These replication slots are lost: zero_0\./);
  });

  it('undoes its undo, which is the first moment then', async () => {
    await call({ to: '20 min ago' });
    const [first] = (await call()).moments ?? [];
    assert.equal(first?.to, 'br-kept-2');
    await call({ to: 'br-kept-2' });
    assert.deepEqual([sent[1]?.source_branch_id, sent[1]?.source_timestamp], ['br-kept-2', undefined]);
    await assert.rejects(call({ to: 'br-main' }), /No undo of br-mine has kept main/);
  });

  it('asks the user on other branches, and never changes a protected one', async () => {
    slots = ['zero_0'];
    await assert.rejects(call({ branchId: 'br-main', to: '20 min ago' }), /did not approve/);
    assert.match(
      String(questions[0]),
      /^Let claude take the branch main \(br-main\) of .* back to .*Z\?.*These replication slots are lost: zero_0\./,
    );
    assert.deepEqual(sent, []);
    answers.push('Undo');
    await call({ branchId: 'br-main', to: '20 min ago' });
    assert.equal(sent.length, 1);
    branches[0] = { id: 'br-main', name: 'main', protected: true };
    await assert.rejects(call({ branchId: 'br-main', to: '20 min ago' }), /main is protected/);
  });

  it('explains what is no moment', async () => {
    await assert.rejects(call({ to: 'soon' }), /to must be a time such as 20 min ago/);
    await assert.rejects(call({ to: '3 days ago' }), /The history of br-mine begins at 20/);
    await assert.rejects(call({ to: LATER }), /in the future/);
  });

  it('has the time just before SQL of an agent that writes, without its values', async () => {
    const sql = "UPDATE users SET name = 'secret'";
    for (const write of [false, true]) {
      const input = { projectId: 'shop', branchId: 'br-mine', sql, write };
      // Nothing listens at the address.
      await assert.rejects(callTool(toolDependencies(model), 'runSql', input), /ECONNREFUSED/);
    }
    assert.deepEqual(
      model.markers.ofBranch(refOf('br-mine')).map(({ kind, text, by }) => [kind, text, by]),
      [['agent', 'UPDATE users SET name = …', 'claude']],
    );
  });
});
