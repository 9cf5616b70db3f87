import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { until } from '../../workbench/until.ts';
import { LAUNCHER, RecordedActivation } from './recordedActivation.ts';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  };
}

const extension = vscode.extensions.getExtension<unknown>('hosted-postgres.hosted-postgres');

/** Records which folders this process watches. */
function recordWatches(): { readonly folders: readonly string[]; end(): void } {
  const { watch } = fs;
  const folders: string[] = [];
  const recorded = (...args: Parameters<typeof watch>) => {
    folders.push(String(args[0]));
    return watch(...args);
  };
  const set = (change: object) => {
    Object.assign(fs, change);
    syncBuiltinESMExports();
  };
  set({ watch: recorded });
  return { folders, end: () => set({ watch }) };
}

/** Creates a repository whose env file has this host. */
function createRepository(host: string): string {
  const folder = fs.realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-test-')));
  execFileSync('git', ['init', '--quiet', folder]);
  writeFileSync(path.join(folder, '.env'), `DATABASE_URL=postgresql://app:secret@${host}/shop\n`);
  return folder;
}

const knownHost = (host: string) => {
  const names = { projectId: 'shop-1', projectName: 'Shop', branchId: 'br-one', branchName: 'one' };
  return [host, { account: 'local', ...names, isPooled: false, isProtected: false, isDeleted: false }];
};

const secretsIn = (events: readonly string[]) =>
  events.filter((event) => /^secrets\.(get|store|delete)/.test(event));

describe('the life cycle of the extension', () => {
  it('registers every command and view synchronously, and then does nothing until it is used', async () => {
    const activation = new RecordedActivation();
    await activation.activate();
    const events = new Set(activation.events);
    assert.ok(extension);
    const { contributes }: Manifest = extension.packageJSON;
    const commands = contributes.commands.map(({ command }) => `registerCommand ${command}`);
    const views = Object.values(contributes.views).flatMap((all) =>
      all.map(({ id }) => `createTreeView ${id}`),
    );
    assert.deepEqual(
      [...commands, ...views].filter((event) => !events.has(event)),
      [],
    );
    assert.notEqual(commands.length * views.length, 0);
    await new Promise(setImmediate);
    assert.deepEqual([...new Set(activation.events)], [...events]);
    assert.deepEqual(secretsIn(activation.events), []);
    activation.dispose();
    assert.equal(activation.open.size, 0, `of ${activation.events.join(', ')}`);
  });

  for (const [reason, storedState] of Object.entries({
    'the last account is the local service': { 'hostedPostgres.lastAccount': 'local' },
    'a key rotation was interrupted': {
      keyRotation: { id: 'a', account: 'example.test/api/v2', newName: 'laptop 2' },
    },
    'a change is pending': {
      'hostedPostgres.pendingChanges': [
        {
          id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
          account: 'https://example.test/api/v2',
          verb: 'restart',
          projectId: 'shop',
          computeId: 'ep-one',
          operations: [
            {
              id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
              action: 'start_compute',
              status: 'running',
              failures: 0,
            },
          ],
          since: Date.now(),
        },
      ],
    },
  })) {
    it(`starts at once if ${reason}, and leaves no timer, listener or registration`, async () => {
      const activation = new RecordedActivation(storedState);
      await activation.activate();
      assert.deepEqual(secretsIn(activation.events), []);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      assert.notDeepEqual(secretsIn(activation.events), []);
      activation.dispose();
      assert.deepEqual([...activation.timers], []);
      assert.equal(activation.open.size, 0, `of ${activation.events.join(', ')}`);
    });
  }

  const local = { 'hostedPostgres.lastAccount': 'local' };
  for (const { reason, storedState, appName, launcher } of [
    { reason: 'if they were used before, even in another profile', launcher: 'before' },
    { reason: 'once another window is used for them', storedState: local, launcher: 'after' },
    { reason: 'in Cursor', storedState: local, appName: 'Cursor' },
  ])
    it(`listens for agents ${reason}, until the end`, async () => {
      const activation = new RecordedActivation(storedState, appName);
      if (launcher === 'before') activation.writeLauncher();
      await activation.activate();
      if (launcher === 'after') {
        await until('the window has loaded', async () => secretsIn(activation.events).length > 0);
        assert.deepEqual(activation.agentFiles, []);
        activation.writeLauncher();
        activation.fire('onDidChangeWindowState', { focused: true });
      }
      const record = `${process.pid}.json`;
      await until('the files', async () =>
        [LAUNCHER, record].every((file) => activation.agentFiles.includes(file)),
      );
      activation.deactivate();
      await until('the end', async () => activation.agentFiles.join() === LAUNCHER);
      assert.equal(activation.open.size, 0, `of ${activation.events.join(', ')}`);
      activation.dispose();
    });

  it('watches a repository only if a host of its env file is known, and never activates the Git extension', async () => {
    const host = 'ep-one.example.test';
    const [unknown, known] = [createRepository(host), createRepository(host)];
    const watches = recordWatches();
    const without = new RecordedActivation({ 'hostedPostgres.lastAccount': 'local' });
    without.workspaceFolder = unknown;
    await without.activate();
    await until('the first window has loaded', async () => secretsIn(without.events).length > 0);
    // It starts later and does more. So when it watches, the first one would.
    const following = new RecordedActivation({ 'hostedPostgres.knownHosts': [knownHost(host)] });
    following.workspaceFolder = known;
    await following.activate();
    const watched = (folder: string) => watches.folders.filter((each) => each.startsWith(folder));
    await until('the second window watches', async () => watched(known).includes(path.join(known, '.git')));
    assert.deepEqual(watched(unknown), []);
    const events = [...without.events, ...following.events];
    assert.equal(events.includes('activate vscode.git'), false);
    for (const activation of [without, following]) activation.dispose();
    watches.end();
    for (const folder of [unknown, known]) rmSync(folder, { recursive: true, force: true });
  });
});
