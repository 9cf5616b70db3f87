import { answers, dialogs, executed, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { createGitRunner } from '../../../../../src/base/git/runGit.ts';
import { readBranchMap } from '../../../../../src/extension/gitBranch/branchMap.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { enterInInputBoxes } from '../../../../helpers/enterIn.ts';
import { PUBLIC_BASE_URL } from '../../../../helpers/publicBaseUrl.ts';
import { CodedError, scriptService, type Script } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext, fakeView } from '../../../../helpers/commandContext.ts';

const { updateContextKeys } = await import('../../../../../src/extension/inventory/ui/updateContextKeys.ts');
const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

interface Record {
  readonly id: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

const HOUR = 3_600_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
const SNAPSHOTS = '/projects/shop/snapshots';

describe('Snapshots of a branch', () => {
  let model: ConnectedModel;
  let project: object;
  let branches: Record[];
  let computes: Record[];
  /** Undefined: not offered. */
  let snapshots: Record[] | undefined;
  /** Whether somebody else's new branch is all that a restore leaves. */
  let isReplyLost: boolean;
  const sent: string[] = [];
  let slots: string[] = [];
  const revealed: unknown[] = [];

  const script: Script = (call, _query, body) => {
    if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop', ...project }] };
    if (call === 'GET /projects/shop/endpoints') return { endpoints: computes };
    if (call === 'GET /projects/shop/branches') return { branches };
    if (snapshots === undefined && call.includes('/snapshot')) return new CodedError(404, 'not available');
    if (call === `GET ${SNAPSHOTS}`) return { snapshots };
    if (call.endsWith('/replication_slots')) return { replication_slots: slots };
    sent.push(`${call} ${JSON.stringify(body ?? {})}`);
    const { finalize_restore = false, name = 'main' } = Object(body);
    if (call.endsWith('/endpoints')) {
      computes = [{ id: 'ep-1', name: 'one', branch_id: 'br-new', ...COMPUTE }];
      return { endpoint: computes[0], operations: [] };
    }
    if (call.endsWith('/restore')) {
      if (isReplyLost) {
        branches.push({ id: 'br-theirs', name: 'theirs', created_at: ago(0) });
        return 502;
      }
      const restore_status = finalize_restore ? 'finalized' : 'restored';
      const branch = { id: 'br-new', name, created_at: ago(0), restored_as: 'br-main', restore_status };
      if (finalize_restore)
        branches = branches.map((each) => (each.id === 'br-main' ? { ...each, name: 'main (old)' } : each));
      branches.push(branch);
      return { branch, endpoints: [], operations: [] };
    }
    return { snapshot: { id: 'snap-new', name: 'new' }, branch: branches.at(-1), operations: [] };
  };

  const COMPUTE = { host: 'h', project_id: 'shop', type: 'read_write', current_state: 'idle', settings: {} };

  beforeEach(async () => {
    for (const list of [answers, questions, dialogs, quickPicks, executed, sent, revealed]) list.length = 0;
    project = { history_retention_seconds: 86_400 };
    branches = [
      { id: 'br-main', name: 'main', default: true, created_at: ago(24 * HOUR) },
      { id: 'br-other', name: 'other', created_at: ago(24 * HOUR) },
    ];
    computes = [];
    isReplyLost = false;
    snapshots = [
      { id: 'snap-1', name: 'before', source_branch_id: 'br-main', created_at: ago(2 * HOUR) },
      { id: 'snap-2', name: 'of another', source_branch_id: 'br-other', created_at: ago(HOUR) },
      { id: 'snap-3', name: 'old', source_branch_id: 'br-gone', created_at: ago(1000 * HOUR) },
    ];
    const { baseUrl } = await scriptService(script);
    model = await connectModel({ baseUrl: PUBLIC_BASE_URL }, { client: { baseUrl } });
  });

  const ref = (branchId = 'br-main') => ({ account: accountId(model.account), projectId: 'shop', branchId });
  const run = (
    command: Parameters<typeof handleCommand>[1],
    argument: object = {},
    states: readonly object[] = [],
  ) => {
    const context = commandContext(model, {
      computesView: fakeView([], (row) => revealed.push(row)),
      workFolders: { states, shown: undefined, refresh: () => undefined },
    });
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-main', ...argument };
    return handleCommand(context, command, node);
  };
  const undo = () => run('hostedPostgres.undo');
  const opened = async () => {
    await until('the moments', async () => (quickPicks[0]?.items.length ?? 0) > 0);
    const [pick] = quickPicks;
    assert.ok(pick !== undefined);
    return pick;
  };
  const accept = async (label: string) => {
    const pick = await opened();
    while (pick.active !== label) pick.down();
    pick.accept();
  };
  const createFromSnapshot = async () => {
    await enterInInputBoxes('look');
    const end = run('hostedPostgres.branch.createFromTime');
    await accept('Snapshot “before”');
    await until('the lifetime', async () => quickPicks[0]?.active === 'Never');
    quickPicks[0]?.accept();
    await end;
  };
  const isHidden = () =>
    executed.some(([, key, value]) => key === 'hostedPostgres.snapshotsNotOffered' && value === true);

  it('are moments that Undo… offers by name, without those of other branches', async () => {
    const end = undo();
    const labels = (await opened()).items.map(({ label }) => label);
    assert.deepEqual(labels, [
      '1 minute ago',
      '5 minutes ago',
      '1 hour ago',
      'Snapshot “before”',
      'Snapshot “old” of a deleted branch',
      'Enter a time…',
    ]);
    quickPicks[0]?.cancel();
    await end;
  });

  it('are restored in place, by which the branch gets another id and can go back', async () => {
    model.agentBranches.add({
      ...ref(),
      name: 'main',
      agent: 'claude',
      createdAt: ago(HOUR),
      expiresAt: ago(-HOUR),
    });
    const end = undo();
    await accept('Snapshot “before”');
    await end;
    assert.deepEqual(sent, [
      `POST ${SNAPSHOTS}/snap-1/restore {"finalize_restore":true,"target_branch_id":"br-main"}`,
    ]);
    await until('the message', async () => questions.length === 1);
    assert.match(
      String(questions[0]),
      /^Undid main \(shop\)\. You selected: Snapshot “before” \(.*\)\. Its previous data is kept as main \(old\)\.$/,
    );
    const [marker] = model.markers.ofBranch(ref('br-new'));
    assert.deepEqual([marker?.kind, marker?.preserved], ['undo', 'br-main']);
    assert.equal(model.agentBranches.find(ref('br-new'))?.agent, 'claude');
    const again = run('hostedPostgres.undo', { branchId: 'br-new' });
    const labels = (await opened()).items.map(({ label }) => label);
    assert.match(String(labels[0]), /^Undo the undo of /);
    assert.ok(labels.includes('Snapshot “before”'));
    quickPicks[0]?.cancel();
    await again;
  });

  it('are restored in place, and Git branches stay mapped to the branch', async () => {
    const repository = createRepository();
    const { folder } = repository;
    const map = {
      branches: new Map([['main', ref()]]),
      parent: ref(),
      created: [{ ...ref(), gitBranch: 'main' }],
    };
    // Two worktrees with one map.
    const state = { repository: { worktree: folder, gitDir: folder, commonDir: folder }, map, git: {} };
    answers.push('Undo');
    const end = run('hostedPostgres.undo', {}, [state, state]);
    await accept('Snapshot “before”');
    await end;
    const mapped = await readBranchMap(
      createGitRunner(() => 'git'),
      folder,
    );
    assert.deepEqual(mapped.branches.get('main'), ref('br-new'));
    assert.deepEqual(mapped.parent, ref('br-new'));
    assert.deepEqual(mapped.created, [{ ...ref('br-new'), gitBranch: 'main' }]);
    assert.equal(
      repository.git('config', '--get-all', 'hostedPostgres.created').trim().split('\n').length,
      1,
    );
  });

  it('are restored only after a confirmation on a branch of others', async () => {
    const end = undo();
    await accept('Snapshot “before”');
    await end;
    assert.match(
      String(questions[0]),
      /^Undo main \(shop\)\? You selected: Snapshot “before” \(.*\)\. .* kept as the branch main \(old\)/,
    );
    assert.deepEqual(sent, []);
  });

  it('of a deleted branch are restored only after a confirmation, also on a branch of an agent', async () => {
    model.agentBranches.add({
      ...ref(),
      name: 'main',
      agent: 'a',
      createdAt: ago(HOUR),
      expiresAt: ago(-HOUR),
    });
    const end = undo();
    await accept('Snapshot “old” of a deleted branch');
    await end;
    assert.match(
      String(questions[0]),
      /^Undo .*\? You selected: Snapshot “old” of a deleted branch \(.*\)\. /,
    );
    assert.deepEqual(sent, []);
  });

  it('say which replication slots end', async () => {
    slots = ['zero_0', 'powersync'];
    Object.defineProperty(model.session.connection, 'isLocal', { value: true });
    const end = undo();
    await accept('Snapshot “before”');
    await end;
    assert.match(String(questions[0]), / replication slots are lost: zero_0, powersync\. Programs that read/);
    slots = [];
  });

  it('are all that is offered where the project keeps no history', async () => {
    project = { history_retention_seconds: 0 };
    await model.inventory.refreshProjects();
    const end = undo();
    const labels = (await opened()).items.map(({ label }) => label);
    assert.deepEqual(labels, ['Snapshot “before”', 'Snapshot “old” of a deleted branch']);
    quickPicks[0]?.cancel();
    await end;
  });

  it('become a new branch with a compute by Create Branch from a Time…', async () => {
    await createFromSnapshot();
    assert.deepEqual(sent, [
      `POST ${SNAPSHOTS}/snap-1/restore {"name":"look","target_branch_id":"br-main"}`,
      'POST /projects/shop/endpoints {"endpoint":{"branch_id":"br-new","type":"read_write"}}',
    ]);
    assert.deepEqual(revealed, [{ projectId: 'shop', branchId: 'br-new', computeId: 'ep-1' }]);
  });

  it("don't take somebody else's new branch for theirs after a lost reply", async () => {
    isReplyLost = true;
    await createFromSnapshot();
    assert.deepEqual(sent, [`POST ${SNAPSHOTS}/snap-1/restore {"name":"look","target_branch_id":"br-main"}`]);
    assert.match(String(questions.at(-1)), /^Couldn't create/);
    assert.deepEqual(revealed, []);
  });

  it('are renamed and deleted by the buttons of their item, after which the list opens again', async () => {
    await enterInInputBoxes('better');
    answers.push('Delete');
    const end = undo();
    (await opened()).press('Snapshot “before”', 'Rename Snapshot…');
    await until('the name is sent', async () => sent.length === 1);
    assert.equal(sent[0], `PATCH ${SNAPSHOTS}/snap-1 {"snapshot":{"name":"better"}}`);
    (await opened()).press('Snapshot “before”', 'Delete Snapshot…');
    await until('it is deleted', async () => sent.length === 2);
    assert.match(
      String(dialogs[0] ?? questions[0]),
      /^Delete the snapshot before of main \(Shop\)\? This can't be undone/,
    );
    assert.equal(sent[1], `DELETE ${SNAPSHOTS}/snap-1 {}`);
    (await opened()).cancel();
    await end;
  });

  it('are created with a name by Create Snapshot…', async () => {
    await enterInInputBoxes('before the clean-up');
    await run('hostedPostgres.snapshot.create');
    assert.match(String(sent[0]), /^POST \/projects\/shop\/branches\/br-main\/snapshot /);
  });

  it('are hidden where they are not offered', async () => {
    snapshots = undefined;
    updateContextKeys(model.session, model.inventory);
    const end = undo();
    assert.ok(!(await opened()).items.some(({ label }) => label.startsWith('Snapshot')));
    quickPicks[0]?.cancel();
    assert.ok((await end, isHidden()));
    await enterInInputBoxes('too bad');
    await run('hostedPostgres.snapshot.create');
    await until('the message', async () => /doesn't support snapshots/.test(String(questions[0])));
  });
});
