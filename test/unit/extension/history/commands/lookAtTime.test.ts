/** Timers: extension/history/commands/pastBranch.ts. */
import { answers, fakeTerminals, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import type { CommandId } from '../../../../../src/extension/commandTable/commandTable.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { computeRecord, type Script } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

const DAY = 86_400_000;
const main = {
  id: 'br-main',
  name: 'main',
  default: true,
  created_at: new Date(Date.now() - DAY).toISOString(),
};
const start = {
  id: '7b2f1c1e-0000-4000-8000-000000000001',
  project_id: 'shop',
  branch_id: 'br-look',
  action: 'start_compute',
};

describe('A moment of a branch', () => {
  let model: ScriptedModel;
  let context: CommandContext;
  let branches: object[];
  let retention: number;
  let startFailure: string | undefined;
  const bodies: { readonly branch: Readonly<Record<string, string>> }[] = [];
  const deleted: string[] = [];

  const script: Script = (call, _query, body) => {
    if (call === 'GET /projects')
      return { projects: [{ id: 'shop', name: 'Shop', history_retention_seconds: retention }] };
    if (call.endsWith('/endpoints')) return { endpoints: [computeRecord('ep-main')] };
    if (call.endsWith('/databases')) return { databases: [{ id: 1, name: 'app', owner_name: 'owner' }] };
    if (call.endsWith('/roles')) return { roles: [{ name: 'owner' }] };
    if (call.endsWith('/connection_uri')) return 404;
    if (call.endsWith('/changes')) return { schema_changes: [] };
    if (call === 'GET /projects/shop/branches') return { branches };
    if (call.endsWith(`/operations/${start.id}`))
      return { operation: { ...start, status: 'failed', error: startFailure } };
    if (call.startsWith('DELETE ')) deleted.push(call);
    else bodies.push(body as (typeof bodies)[number]);
    const branch = { id: 'br-look', name: 'look' };
    const endpoints = [computeRecord('ep-look', { branch_id: 'br-look' })];
    const isStarting = startFailure !== undefined && call.startsWith('POST ');
    return { branch, endpoints, operations: isStarting ? [{ ...start, status: 'running' }] : [] };
  };

  beforeEach(async () => {
    for (const list of [answers, questions, quickPicks, fakeTerminals.opened, bodies, deleted])
      list.length = 0;
    [branches, retention, startFailure] = [[main], 86_400, undefined];
    model = await connectScripted(script);
    const folder = temporaryFolder();
    for (const name of ['psql', 'psql.exe']) writeFileSync(path.join(folder, name), '', { mode: 0o755 });
    const config = { postgresPath: folder, configuredLogin: () => ({ role: '', database: '' }) };
    context = commandContext(model, { config, extensionUri: { fsPath: '' } });
  });

  const ref = () => ({ account: accountId(model.account), projectId: 'shop', branchId: 'br-main' });
  const run = (command: CommandId) =>
    handleCommand(context, command, { kind: 'branch', projectId: 'shop', branchId: 'br-main' });
  const firstPick = async () => {
    await until('the moments', async () => (quickPicks[0]?.items.length ?? 0) > 0);
    return quickPicks[0] ?? assert.fail();
  };

  it('is read by psql on a temporary branch, which ends with the terminal', async () => {
    model.markers.add(ref(), { kind: 'program', text: 'prisma migrate dev' });
    const end = run('hostedPostgres.history.openPsql');
    (await firstPick()).accept();
    await end;
    const [{ branch } = { branch: {} }] = bodies;
    const [marker] = model.markers.ofBranch(ref());
    assert.equal(branch['parent_id'], 'br-main');
    assert.equal(branch['parent_timestamp'], marker?.time);
    assert.match(branch['name'] ?? '', /^look-\d\d-\d\d$/);
    const lifetime = Date.parse(branch['expires_at'] ?? '') - Date.now();
    assert.ok(lifetime > 86_300_000 && lifetime <= 86_400_000, 'it expires after a day');
    const [terminal] = fakeTerminals.opened;
    assert.equal(terminal?.env?.['PGOPTIONS'], '-c default_transaction_read_only=on');
    // If Postgres rejects the password, the terminal stays open with its reason.
    assert.match(terminal.shellArgs?.join(' ') ?? '', /terminalProgram\.js .*ep-look\.example\.test/);
    fakeTerminals.close(undefined);
    assert.deepEqual(deleted, []);
    fakeTerminals.close(terminal);
    await until('the deletion', async () => deleted.length > 0);
    assert.deepEqual(deleted, ['DELETE /projects/shop/branches/br-look']);
  });

  it('leaves no branch if its compute did not start, and says why', async () => {
    startFailure = 'Postgres did not start: no space left';
    const end = run('hostedPostgres.history.openPsql');
    (await firstPick()).accept();
    await until('the failure', async () => {
      model.clock.advance(1000);
      return questions.length > 0;
    });
    await end;
    assert.match(String(questions.at(-1)), /^Couldn't open psql: .*Postgres did not start: no space left/);
    assert.deepEqual(deleted, ['DELETE /projects/shop/branches/br-look']);
    assert.deepEqual(fakeTerminals.opened, []);
  });

  it('creates nothing if none is chosen, or without history', async () => {
    const end = run('hostedPostgres.history.openPsql');
    (await firstPick()).cancel();
    await end;
    retention = 0;
    await model.inventory.refreshProjects();
    for (const command of ['openPsql', 'compareSchema', 'mark'] as const) {
      questions.length = 0;
      await run(`hostedPostgres.history.${command}`);
      assert.match(String(questions[0]), /keeps no history/, command);
    }
    assert.deepEqual(bodies, []);
  });
});
