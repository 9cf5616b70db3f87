import { answers, dialogs, executed, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { EMPTY_MAP } from '../../../../../src/extension/gitBranch/branchMap.ts';
import { findRepository } from '../../../../../src/base/git/repository.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { enterInInputBoxes } from '../../../../helpers/enterIn.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { PUBLIC_BASE_URL } from '../../../../helpers/publicBaseUrl.ts';
import {
  CodedError,
  operationRecord,
  scriptService,
  type Script,
} from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext, fakeView } from '../../../../helpers/commandContext.ts';

const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

interface Record {
  readonly id: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

describe('Undo…', () => {
  let model: ConnectedModel;
  let branches: Record[];
  let project: object;
  let operations: unknown[];
  let rejection: CodedError | undefined;
  const sent: unknown[] = [];

  const script: Script = (call, _query, body) => {
    if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop', ...project }] };
    if (call.endsWith('/endpoints')) return { endpoints: [] };
    if (call === 'GET /projects/shop/branches') return { branches };
    if (call === 'GET /projects/shop/snapshots') return new CodedError(404, 'not available');
    if (call.endsWith('/replication_slots')) return { replication_slots: [] };
    if (call.includes('/operations/')) return { operation: operationRecord(1, { status: 'finished' }) };
    sent.push(`${call} ${JSON.stringify(body)}`);
    if (rejection !== undefined) return rejection;
    const [, name] = /"preserve_under_name":"([^"]+)"/.exec(JSON.stringify(body)) ?? [];
    if (name !== undefined) branches.push({ id: `br-kept-${branches.length}`, name });
    return { branch: branches[0], operations };
  };

  beforeEach(async () => {
    answers.length =
      questions.length =
      dialogs.length =
      quickPicks.length =
      executed.length =
      sent.length =
        0;
    branches = [{ id: 'br-main', name: 'main', default: true, created_at: YESTERDAY }];
    [project, operations, rejection] = [{ history_retention_seconds: 86_400 }, [], undefined];
    const { baseUrl } = await scriptService(script);
    // The account is one on the internet, with its requests sent here.
    model = await connectModel({ baseUrl: PUBLIC_BASE_URL }, { client: { baseUrl } });
  });

  const ref = () => ({ account: accountId(model.account), projectId: 'shop', branchId: 'br-main' });
  const run = (argument: object = {}, states: readonly object[] = []) => {
    const context = commandContext(model, { workFolders: { states, shown: undefined } });
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-main', ...argument };
    return handleCommand(context, 'hostedPostgres.undo', node);
  };
  const opened = async () => {
    await until('the moments', async () => (quickPicks[0]?.items.length ?? 0) > 0);
    const [pick] = quickPicks;
    assert.ok(pick !== undefined);
    return pick;
  };
  const labels = async () => (await opened()).items.map(({ label }) => label);
  /** Undoes to the first moment, as in a branch of the user. */
  const undoFirst = async () => {
    const end = run();
    (await opened()).accept();
    await end;
  };
  const bodies = () => sent.map((each) => JSON.parse(String(each).replace(/^[^{]*/, '')));

  it('names moments, restores the branch to the chosen one, and keeps its data under a name', async () => {
    answers.push('Undo');
    model.markers.add(ref(), { kind: 'program', text: 'prisma migrate dev' });
    const end = run();
    assert.deepEqual(await labels(), [
      'Before prisma migrate dev',
      '1 minute ago',
      '5 minutes ago',
      '1 hour ago',
      'Enter a time…',
    ]);
    quickPicks[0]?.accept();
    await end;
    const [marker] = model.markers.ofBranch({ ...ref(), branchId: 'br-kept-1' });
    const [body] = bodies();
    assert.deepEqual(
      { ...body, preserve_under_name: '' },
      { source_branch_id: 'br-main', source_timestamp: marker?.time, preserve_under_name: '' },
    );
    assert.match(body.preserve_under_name, /^before-undo-\d\d-\d\d$/);
    await until('the message', async () => questions.length === 2);
    assert.match(
      String(questions[0]),
      /^Undo main \(shop\)\? You selected: Before prisma migrate dev \(.*\)\. Its current data is kept/,
    );
    assert.match(
      String(questions[1]),
      /^Undid main \(shop\)\. You selected: Before prisma migrate dev \(.*\)\. Its previous data is kept as before-undo/,
    );
  });

  it('goes back to the position of a given moment', async () => {
    answers.push('Undo');
    await run({ source: { branchId: 'br-main', at: { timestamp: YESTERDAY, lsn: '0/15000A8' } } });
    assert.deepEqual(
      { ...bodies()[0], preserve_under_name: '' },
      { source_branch_id: 'br-main', source_lsn: '0/15000A8', preserve_under_name: '' },
    );
  });

  it('counts the changes of an agent, also those of an earlier series', async () => {
    const now = Date.now();
    for (const minutes of [50, 49, 20, 19, 18])
      model.markers.add(ref(), { kind: 'agent', text: 'INSERT', by: 'claude' }, now - minutes * 60_000);
    const end = run();
    const series = (await labels()).filter((label) => /changes/.test(label));
    assert.deepEqual(series, ['Before 3 changes of claude', 'Before 2 changes of claude']);
    quickPicks[0]?.accept();
    await end;
  });

  it('lists an event of git once, although two folders of the window are in the repository', async () => {
    const repository = createRepository();
    repository.git('commit', '--quiet', '--allow-empty', '--message', 'add roles');
    const found = await findRepository(repository.folder);
    const state = { repository: found, map: EMPTY_MAP, git: { branch: 'main' }, current: ref() };
    const end = run({}, [state, state]);
    const commits = (await labels()).filter((label) => /add roles/.test(label));
    assert.equal(commits.length, 1);
    quickPicks[0]?.accept();
    await end;
  });

  it('can be undone, by what is offered first and from the message', async () => {
    model.markers.add(ref(), { kind: 'program', text: 'migrate' });
    answers.push('Undo', 'Undo the Undo');
    await undoFirst();
    await until('the action', async () => executed.at(-1)?.[0] === 'hostedPostgres.undo');
    assert.deepEqual(executed.at(-1), [
      'hostedPostgres.undo',
      { kind: 'branch', projectId: 'shop', branchId: 'br-main', preserved: 'br-kept-1' },
    ]);
    const end = run();
    const [first = '', second] = await labels();
    assert.match(first, /^Undo the undo of /);
    assert.equal(second, 'Before migrate');
    answers.push('Undo');
    quickPicks[0]?.accept();
    await end;
    const [, expiry, body] = bodies();
    // The service keeps what is not kept by the user for a week.
    const [, kept = ''] = /"expires_at":"([^"]+)"/.exec(JSON.stringify(expiry)) ?? [];
    assert.ok(Math.abs(Date.parse(kept) - Date.now() - 7 * 86_400_000) < 60_000, kept);
    assert.deepEqual(body, {
      source_branch_id: 'br-kept-1',
      preserve_under_name: `${branches[1]?.name}-2`,
    });
  });

  it('does not ask on a branch that an agent or the user has created, and gives its copy the same expiry', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    branches = [{ id: 'br-main', name: 'work', created_at: YESTERDAY, expires_at }];
    const made = { name: 'work', agent: 'claude', createdAt: YESTERDAY, expiresAt: expires_at };
    model.agentBranches.add({ ...ref(), ...made });
    await undoFirst();
    assert.deepEqual(dialogs, []);
    assert.equal(sent.length, 2);
    assert.equal(
      sent[1],
      `PATCH /projects/shop/branches/br-kept-1 {"branch":{"expires_at":"${expires_at}"}}`,
    );
  });

  it('has the name entered on a protected branch', async () => {
    branches = [{ id: 'br-main', name: 'main', created_at: YESTERDAY, protected: true }];
    await undoFirst();
    assert.match(String(dialogs[0]), /This is production\. Enter “main”/);
    assert.deepEqual(sent, []);
  });

  it('waits for the operations', async () => {
    operations = [operationRecord(1)];
    answers.push('Undo');
    const end = run();
    (await opened()).accept();
    await until('the operations', async () => model.tracker.pending.length === 1);
    assert.equal(questions.length, 1);
    await until('a poll', async () => {
      model.clock.advance(1000);
      return model.tracker.pending.length === 0;
    });
    await end;
    await until('the message', async () => questions.length === 2);
  });

  it('says why, instead of a list, on a branch that the service does not take back', async () => {
    branches = [{ id: 'br-main', name: 'work', parent_id: 'br-root', created_at: YESTERDAY }];
    await run();
    assert.match(String(questions[0]), /^work \(shop\) has a parent, .* restores only root branches to/);
    project = { history_retention_seconds: 0 };
    branches = [{ id: 'br-main', name: 'main', created_at: YESTERDAY }];
    await model.inventory.refreshProjects();
    await run();
    assert.match(String(questions[1]), /^main \(Shop\) can't go back in time, because its project keeps/);
    assert.deepEqual([sent, quickPicks], [[], []]);
  });

  it('says that the service does not offer it, unless the branch with the data is gone', async () => {
    model.markers.add(ref(), { kind: 'program', text: 'migrate' });
    rejection = new CodedError(404, 'not found');
    answers.push('Undo');
    await undoFirst();
    await until('the message', async () => questions.length === 2);
    assert.match(
      String(questions[1]),
      /^Couldn't undo main \(shop\): This service can't restore branches to an earlier time, .* Nothing was changed\.$/,
    );
    answers.push('Undo');
    await run({ preserved: 'br-gone' });
    await until('the message', async () => questions.length === 4);
    assert.match(String(questions[3]), /^Couldn't undo main \(Shop\): not found/);
  });

  it("shows the service's reason if the moment is too early", async () => {
    rejection = new CodedError(400, 'history begins at 14:00');
    answers.push('Undo');
    await undoFirst();
    await until('the message', async () => questions.length === 2);
    assert.match(String(questions[1]), /^Couldn't undo main \(shop\): history begins at 14:00/);
    assert.deepEqual(model.markers.ofBranch(ref()), []);
  });
});

describe('Create Branch from a Time…', () => {
  it('creates a branch with a compute and the data of the chosen moment', async () => {
    quickPicks.length = 0;
    const sent: unknown[] = [];
    const branches = [{ id: 'br-main', name: 'main', default: true, created_at: YESTERDAY }];
    const { baseUrl } = await scriptService((call, _query, body) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call.endsWith('/endpoints')) return { endpoints: [] };
      if (call.endsWith('/snapshots')) return { snapshots: [] };
      if (call.startsWith('GET')) return { branches };
      sent.push(body);
      return { branch: { id: 'br-new', name: 'look', parent_id: 'br-main' }, operations: [] };
    });
    const model = await connectModel({ baseUrl });
    const account = accountId(model.account);
    model.markers.add(
      { account, projectId: 'shop', branchId: 'br-main' },
      { kind: 'program', text: 'migrate' },
    );
    await enterInInputBoxes('look');
    const revealed: unknown[] = [];
    const computesView = fakeView([], (row) => revealed.push(row));
    const context = commandContext(model, { computesView, log: { error: assert.fail } });
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-main' };
    const end = handleCommand(context, 'hostedPostgres.branch.createFromTime', node);
    await until('the moments', async () => quickPicks[0]?.active === 'Before migrate');
    quickPicks[0]?.accept();
    await until('the lifetime', async () => quickPicks[0]?.active === 'Never');
    quickPicks[0]?.accept();
    await end;
    const [marker] = model.markers.ofBranch({ account, projectId: 'shop', branchId: 'br-main' });
    const branch = { name: 'look', parent_id: 'br-main', parent_timestamp: marker?.time };
    assert.deepEqual(sent, [{ branch, endpoints: [{ type: 'read_write' }] }]);
    assert.equal(revealed.length, 1);
  });
});
