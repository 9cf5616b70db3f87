/**
 * * Windows that join, lose and end the local service: after a crash, if it hangs, or if another program has its port or
 * process id. The windows are wired like the extension. The service is the real one, without Postgres.
 * Timers: extension/signIn/ui/localService.ts.
 */
import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import { Client } from '../../../../src/api/client.ts';
import { newLeaseSecret } from '../../../../src/localService/leaseProof.ts';
import { DisposableStore, type Disposable } from '../../../../src/base/disposable.ts';
import { Accounts } from '../../../../src/extension/account/accounts.ts';
import type { OpenClient } from '../../../../src/extension/account/accountConnection.ts';
import { Inventory } from '../../../../src/extension/inventory/inventory.ts';
import { Session } from '../../../../src/extension/account/session.ts';
import { isAlive } from '../../../../src/base/programs/isAlive.ts';
import { chooseFreePort } from '../../../../src/service/postgres/server/serverAddress.ts';
import { readOwnJson } from '../../../../src/base/files.ts';
import { findServiceAddress, findServiceOwner } from '../../../../src/localService/discover.ts';
import { takeLease } from '../../../../src/localService/lease.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { builtService } from '../../../helpers/builtService.ts';
import { IMPOSTORS, startImpostor, type Impostor } from '../../../helpers/impostor.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';
import { until } from '../../../workbench/until.ts';

const { LocalService } = await import('../../../../src/extension/signIn/ui/localService.ts');

/** The window also writes a file next to it. */
const dataFolder = (): string => temporaryFolder(temporaryFolder());

/** What `service.json` and `service.lock` say about a service. */
interface Note {
  readonly pid: number;
  readonly baseUrl: string;
}

interface Window extends Disposable {
  readonly accounts: Accounts;
  readonly session: Session;
  readonly inventory: Inventory;
  readonly localService: InstanceType<typeof LocalService>;
  readonly openClient: OpenClient;
}

describe('A window with the local service', () => {
  let folder: string;
  let script: string;
  let secrets: SecretMap;
  let held: DisposableStore;
  let impostor: Impostor | undefined;
  const started = new Set<number>();

  beforeEach(async () => {
    folder = dataFolder();
    script = path.join(folder, 'service.mjs');
    const built = JSON.stringify(await builtService());
    fs.writeFileSync(script, `process.argv.push('--no-postgres'); await import(${built});`);
    secrets = new SecretMap();
    held = new DisposableStore();
  });
  afterEach(async () => {
    held.dispose();
    await impostor?.close();
    impostor = undefined;
    for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await until('the services to end', async () => ![...started].some(isAlive));
    started.clear();
  });

  async function openWindow(grace?: number, dataDir = folder): Promise<Window> {
    const store = held.add(new DisposableStore());
    const accounts = store.add(new Accounts(secrets));
    const log = { info() {}, error() {}, addSecret() {} };
    const config = { postgresPath: undefined, extensionsPath: undefined, trustedExtensions: [] };
    const parts = { script, dataDir, version: '0.0.0', secrets, accounts, config, log, grace };
    const localService = store.add(new LocalService(parts));
    const openClient: OpenClient = async (account, key) => {
      if (account.local === true) await localService.join();
      const fetch = localService.fetchWhileRunning(account, globalThis.fetch);
      return new Client({ baseUrl: account.baseUrl, key, fetch, retries: 0 });
    };
    const session = store.add(new Session(accounts, openClient));
    const inventory = store.add(new Inventory(session, () => undefined));
    store.add(localService.follow(session));
    await session.start();
    return { accounts, session, inventory, localService, openClient, dispose: () => store.dispose() };
  }

  const file = (name: string) => path.join(folder, name);
  const readNote = (name: string): Note => JSON.parse(fs.readFileSync(file(name), 'utf8'));
  /** The file is missing or incomplete while a service starts. */
  const serviceOtherThan = (former?: number): Promise<Note> =>
    until('the address of a service', async () => {
      const { pid, baseUrl }: Partial<Note> = readOwnJson(file('service.json'));
      if (pid === undefined || baseUrl === undefined || pid === former) return undefined;
      started.add(pid);
      return { pid, baseUrl };
    });
  const key = () => secrets.entries.get('hostedPostgres.localService.key') ?? assert.fail('no key');

  /** Like a click on Start Local Service. */
  async function start({ localService, session, inventory }: Window): Promise<Note> {
    await localService.start();
    await session.reread();
    await inventory.ensureProjects();
    assert.equal(inventory.state.kind, 'ready');
    return serviceOtherThan();
  }

  function noticeSilenceSooner(): void {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const sooner = (milliseconds: number) => timeout(milliseconds * 0.3);
    const { mock: mocked } = mock.method(AbortSignal, 'timeout', sooner);
    atEndOfTest(() => mocked.restore());
  }

  async function kill(pid: number): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await until('the service to end', async () => !isAlive(pid));
  }

  for (const [what, answer] of Object.entries(IMPOSTORS)) {
    it(`starts another service when the port of a killed one ${what}, and its process id was reused`, async () => {
      const first = await openWindow();
      const { pid, baseUrl } = await start(first);
      first.dispose();
      const notes = ['service.json', 'service.lock'].map((name) => [file(name), readNote(name)] as const);
      await kill(pid);
      for (const [name, note] of notes)
        fs.writeFileSync(name, JSON.stringify({ ...note, pid: process.pid }), { mode: 0o600 });
      impostor = await startImpostor(Number(new URL(baseUrl).port), answer);
      const second = await openWindow();
      assert.notEqual((await start(second)).baseUrl, baseUrl);
      assert.equal(impostor.received(), '');
    });
  }

  for (const [what, answer] of Object.entries(IMPOSTORS)) {
    it(`takes no lease of a program that ${what}, even if the process id is right`, async () => {
      const { pid, baseUrl } = await start(await openWindow());
      const [leaseSecret, address] = [newLeaseSecret(), await chooseFreePort()];
      const note = {
        ...readNote('service.json'),
        leaseSecret,
        baseUrl: baseUrl.replace(/:\d+/, `:${address}`),
      };
      fs.writeFileSync(file('service.json'), JSON.stringify(note), { mode: 0o600 });
      impostor = await startImpostor(address, answer);
      const owner = await findServiceOwner(folder);
      assert.equal(owner?.pid, pid);
      const found = owner && (await findServiceAddress(folder, owner));
      assert.ok(found);
      noticeSilenceSooner();
      const lease = takeLease(found);
      if (answer === undefined) await assert.rejects(lease, { name: 'LocalServiceError', reason: 'silent' });
      else assert.equal(await lease, undefined);
      for (const secret of [key(), leaseSecret]) assert.ok(!impostor.received().includes(secret));
    });
  }

  for (const [what, replace] of [
    ['a link', (from: string) => fs.symlinkSync(`${from}.real`, from)],
    ['a pipe', (from: string) => execFileSync('mkfifo', [from])],
    ['writable for others', (from: string) => fs.copyFileSync(`${from}.real`, from)],
  ] as const) {
    it(`does not believe service.json when it is ${what}`, async function () {
      if (process.platform === 'win32') this.skip();
      await start(await openWindow());
      const owner = (await findServiceOwner(folder)) ?? assert.fail('no owner');
      assert.ok(await findServiceAddress(folder, owner));
      const name = file('service.json');
      fs.renameSync(name, `${name}.real`);
      replace(name);
      if (what === 'writable for others') fs.chmodSync(name, 0o666);
      assert.equal(await findServiceAddress(folder, owner), undefined);
    });
  }

  it('keeps the service running for another window, and the last one ends it after the grace time', async () => {
    const [first, second] = [await openWindow(5_000), await openWindow(5_000)];
    const { pid } = await start(first);
    await second.localService.join();
    first.dispose();
    await second.inventory.refreshAll([]);
    assert.equal(isAlive(pid), true);
    second.dispose();
    await until('the service to end', async () => !isAlive(pid));
  });

  it('replaces a service that has another key only if the user starts it', async () => {
    const first = await openWindow();
    await start(first);
    // The window closes, but the service still waits for the next one.
    first.dispose();
    secrets = new SecretMap();
    const second = await openWindow();
    await assert.rejects(second.localService.join(), { name: 'LocalServiceError', reason: 'otherKey' });
    await start(second);
  });

  for (const isResumed of [false, true])
    it(`starts a service with a new key after its key was revoked, ${isResumed ? 'but not for a window that resumes it' : 'if the user starts it'}`, async () => {
      let window = await openWindow();
      const { pid } = await start(window);
      const { account } = window.session.connection ?? assert.fail('not connected');
      const client = await window.openClient(account, key());
      const own = (await client.listApiKeys()).items.find(({ name }) => name === 'given at start');
      await client.revokeApiKey(own?.id ?? 0);
      if (isResumed) {
        window.dispose();
        process.kill(pid, 'SIGTERM');
        await until('the service to end', async () => !isAlive(pid));
        window = await openWindow();
        await assert.rejects(window.localService.join(), {
          name: 'LocalServiceError',
          reason: 'revokedKey',
        });
      } else await window.localService.stop();
      await start(window);
    });

  it('leaves the account as it is when a window on another machine starts a separate service for it', async () => {
    const here = await openWindow();
    const { pid } = await start(here);
    const { connection } = here.session;
    const remoteFolder = dataFolder();
    const there = await openWindow(undefined, remoteFolder);
    await there.inventory.ensureProjects();
    assert.equal(there.inventory.state.kind, 'ready');
    const owner = (await findServiceOwner(remoteFolder)) ?? assert.fail('no separate service');
    started.add(owner.pid);
    assert.notEqual(owner.pid, pid);
    await here.inventory.refreshAll([]);
    assert.equal(here.inventory.state.kind, 'ready');
    assert.equal(here.session.connection, connection);
  });

  it('says that a service hangs, and ends it on Start and on Stop Local Service', async () => {
    noticeSilenceSooner();
    const first = await start(await openWindow());
    const remoteFolder = dataFolder();
    const other = await openWindow(undefined, remoteFolder);
    await other.localService.start();
    const { pid } = (await findServiceOwner(remoteFolder)) ?? assert.fail('no separate service');
    const hanging = [first.pid, pid];
    for (const each of hanging) process.kill(each, 'SIGSTOP');
    const window = await openWindow();
    const startAgain = async () => {
      await assert.rejects(window.localService.join(), { name: 'LocalServiceError', reason: 'silent' });
      await start(window);
    };
    const [, wasStopped] = await Promise.all([startAgain(), other.localService.stop()]);
    assert.equal(wasStopped, true);
    await until('the processes to be gone', async () => !hanging.some(isAlive));
  });

  it('runs a crashed service again, and sends nothing once it has crashed twice in a row', async () => {
    const window = await openWindow();
    const service = await start(window);
    const { connection } = window.session;
    const account = connection?.account ?? assert.fail('not connected');
    const client = await window.openClient(account, key());
    await kill(service.pid);
    const again = await serviceOtherThan(service.pid);
    await client.listApiKeys();
    assert.equal(window.session.connection, connection);
    await kill(again.pid);
    impostor = await startImpostor(Number(new URL(service.baseUrl).port), IMPOSTORS['answers 404']);
    await Promise.allSettled([client.listApiKeys(), window.inventory.refreshAll([])]);
    await until('the connection to end', async () => connection?.isClosed);
    await Promise.allSettled([client.listApiKeys(), window.inventory.refreshAll([])]);
    assert.equal(impostor.received(), '');
    assert.equal(window.inventory.state.kind, 'failed');
    await start(window);
  });

  for (const hours of [-1, 1]) {
    it(`runs a crashed service again when the clock was set by ${hours} h since it was joined`, async () => {
      const window = await openWindow();
      const { pid } = await start(window);
      const { now } = Date;
      try {
        Date.now = () => now() + hours * 3_600_000;
        await kill(pid);
        await serviceOtherThan(pid);
        await window.inventory.refreshAll([]);
        assert.equal(window.inventory.state.kind, 'ready');
      } finally {
        Date.now = now;
      }
    });
  }
});
