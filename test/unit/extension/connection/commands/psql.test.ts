import { answers, executed, fakeTerminals } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { POSTGRES_MISSING } from '../../../../../src/api/transport/errors.ts';
import { findProgram } from '../../../../../src/base/programs/findProgram.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { DELETION_SIGNAL } from '../../../../../src/extension/connection/deletionSignal.ts';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { CodedError, computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { listen } from '../../../../helpers/listen.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { openPsql } = await import('../../../../../src/extension/connection/commands/psql.ts');
const { droppedPsqlText } = await import('../../../../../src/extension/operations/ui/openPsql.ts');
const { explainError } = await import('../../../../../src/extension/window/ui/errorMessage.ts');

describe('Open psql', () => {
  let store: ScriptedModel;
  let context: CommandContext;
  let folder: string;
  let endpoint: Record<string, unknown>;
  let endpoints: readonly object[];
  let endpointsStatus: number | undefined;
  let answer: unknown;

  beforeEach(async () => {
    folder = temporaryFolder();
    for (const name of ['psql', 'psql.exe']) writeFileSync(path.join(folder, name), '', { mode: 0o755 });
    endpoint = computeRecord('ep-one');
    endpoints = [endpoint];
    endpointsStatus = undefined;
    store = await connectScripted((call) =>
      call.endsWith('/endpoints') ? (endpointsStatus ?? { endpoints }) : answer,
    );
    const config = { postgresPath: folder, configuredLogin: () => ({ role: '', database: '' }) };
    context = commandContext(store, { config, extensionUri: { fsPath: folder } });
    await context.connectionDefaults.remember('shop', { role: 'owner', database: 'orders' });
    fakeTerminals.opened.length = executed.length = answers.length = 0;
  });

  const row = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };
  const open = async () => openPsql(context, row, { failureMessage: '', initialConnection: undefined });

  for (const [status, action, reply] of [
    [401, 'newKey', 401],
    [409, 'postgres', new CodedError(409, POSTGRES_MISSING)],
  ] as const)
    it(`offers the remedy instead of a prompt for the password after a ${status} (${action})`, async () => {
      answer = reply;
      await assert.rejects(open(), (error) => explainError(error).action === action);
      assert.equal(fakeTerminals.opened.length, 0);
    });

  it('offers other clients if psql is not installed', async () => {
    const { PATH } = process.env;
    Object.assign(context.config, { postgresPath: undefined });
    answers.push('Open In…');
    process.env.PATH = '';
    try {
      await open();
    } finally {
      process.env.PATH = PATH;
    }
    await until('the command', async () => executed.length > 0);
    assert.deepEqual(executed, [['hostedPostgres.compute.openIn', row]]);
    assert.equal(fakeTerminals.opened.length, 0);
  });

  for (const [type, name] of [
    ['read_write', 'shop / br-main'],
    ['read_only', 'shop / br-main / ep-one'],
  ])
    it(`is named after project and branch: ${type}`, async () => {
      Object.assign(endpoint, { type });
      answer = 404;
      await open();
      assert.partialDeepStrictEqual(fakeTerminals.opened, [{ name }]);
    });

  it('is named in the question before a change that drops its connection, while its terminal is open', async () => {
    answer = 404;
    await open();
    const lost =
      'The open psql loses its connection too. When psql reports the lost connection, enter your command again.';
    assert.equal(droppedPsqlText([{ projectId: 'shop', computeId: 'ep-two' }, row]), lost);
    assert.equal(droppedPsqlText([row], false), 'The open psql loses its connection too.');
    assert.equal(droppedPsqlText([{ projectId: 'shop', computeId: 'ep-two' }]), undefined);
    fakeTerminals.opened.length = 0;
    assert.equal(droppedPsqlText([row]), undefined);
  });

  /** Lets the terminal's process end with the code 3 when it is told of the deletion. */
  const runInTerminal = async () => {
    const script = `process.on('${DELETION_SIGNAL}', () => process.exit(3)); setInterval(() => {}, 1e6); console.log()`;
    const child = spawn(process.execPath, ['-e', script]);
    atEndOfTest(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    Object.assign(fakeTerminals.opened[0] ?? {}, { processId: Promise.resolve(child.pid) });
    return { child, ended };
  };

  it('says in its terminal that its compute was deleted, once the list shows it', async function () {
    if (process.platform === 'win32') return this.skip();
    answer = 404;
    await open();
    const { child, ended } = await runInTerminal();
    for (const change of [{ name: 'renamed' }, { host: 1 }]) {
      Object.assign(endpoint, change);
      await store.inventory.refreshComputes('shop');
    }
    assert.equal(child.exitCode, null);
    endpoints = [];
    await store.inventory.refreshComputes('shop');
    assert.deepEqual(await ended, [3, null]);
  });

  it('says so, too, once its project was deleted, but not while another organization is listed', async function () {
    if (process.platform === 'win32') return this.skip();
    answer = { projects: [{ id: 'shop', name: 'Shop' }] };
    await store.inventory.refreshProjects();
    await open();
    const { child, ended } = await runInTerminal();
    answer = { projects: [] };
    await store.inventory.refreshProjects();
    await until('the computes', async () => store.inventory.computesOf('shop')?.isLoaded === true);
    assert.equal(child.exitCode, null);
    answer = { projects: [{ id: 'shop', name: 'Shop' }] };
    await store.inventory.refreshProjects();
    [answer, endpointsStatus] = [{ projects: [] }, 404];
    await store.inventory.refreshProjects();
    assert.deepEqual(await ended, [3, null]);
  });

  for (const status of [403, 404, 405, 412, 503])
    it(`lets psql ask for the password after a ${status}`, async () => {
      answer = status;
      await open();
      assert.equal(fakeTerminals.opened.length, 1);
    });

  it('connects to the compute, also if the environment has other Postgres variables', async function () {
    const psql = findProgram('psql', []);
    if (psql === undefined) return this.skip();
    const listener = createServer((socket) => socket.destroy());
    const port = await listen(listener);
    Object.assign(context.config, { postgresPath: path.dirname(psql) });
    Object.assign(endpoint, { host: `127.0.0.1:${port}` });
    answer = 404;
    await store.inventory.loadComputes('shop');
    await open();
    const [terminal] = fakeTerminals.opened;
    assert.equal(terminal?.shellPath, process.execPath);
    const [, , , program = '', ...args] = terminal.shellArgs ?? [];
    assert.equal(program, psql);
    const services = path.join(folder, 'services.conf');
    writeFileSync(services, '[production]\nhostaddr=127.0.0.9\nport=1\n');
    for (const theirs of [
      { PGHOSTADDR: '127.0.0.9' },
      { PGSERVICE: 'production', PGSERVICEFILE: services },
      { PGSERVICE: 'missing' },
      { PGSSLMODE: 'nonsense', PGREQUIREAUTH: 'nonsense', PGGSSENCMODE: 'require' },
    ]) {
      const variables = Object.entries({ ...process.env, ...theirs, ...terminal.env });
      // As VS Code does.
      const env = Object.fromEntries(variables.filter(([, value]) => value !== null));
      const connected = once(listener, 'connection');
      const child = spawn(program, ['--no-password', ...args], { env, stdio: 'ignore' });
      const ended = once(child, 'exit').then(() => 'ended');
      assert.notEqual(await Promise.race([connected, ended]), 'ended', JSON.stringify(theirs));
      await ended;
    }
  });
});
