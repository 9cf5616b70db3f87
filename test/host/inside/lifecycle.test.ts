// Activates a second copy of the extension in addition to the one that VS Code runs. Its VS Code API records everything
// that is registered, created or listened to, and its timers are counted.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';
import { until } from '../../workbench/until.ts';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  };
}

const extension = vscode.extensions.getExtension<unknown>('hosted-postgres.hosted-postgres');
const root = extension?.extensionPath ?? '';
const dist = path.join(root, 'dist');

class RecordedActivation {
  /** In order: `registerCommand hostedPostgres.view.refresh`, `secrets.get …`. */
  readonly events: string[] = [];
  /** Registrations, objects and listeners that are not disposed. */
  readonly open = new Set<object>();
  readonly timers = new Set<unknown>();
  readonly subscriptions: { dispose(): unknown }[] = [];

  readonly #storedState: Readonly<Record<string, unknown>>;
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-test-'));
  readonly #storage = path.join(this.#folder, 'storage');
  /** The folder that the window shows; by default that of the suites. */
  workspaceFolder: string | undefined;

  /** @param storedState what earlier windows have kept; `keyRotation` in a file */
  constructor({ keyRotation, ...storedState }: Readonly<Record<string, unknown>> = {}) {
    this.#storedState = storedState;
    if (keyRotation === undefined) return;
    mkdirSync(path.join(this.#storage, 'keyRotations'), { recursive: true });
    writeFileSync(path.join(this.#storage, 'keyRotations', 'one.json'), JSON.stringify(keyRotation));
  }

  async activate(): Promise<void> {
    const { activate } = await this.#load();
    const result = activate?.(this.#context());
    assert.equal(result, undefined, 'activate() must not return a promise');
  }

  /** Loads a copy of the bundle in which `vscode` and the timers are those of this object. */
  async #load(): Promise<{ activate?: (context: unknown) => unknown }> {
    const copy = path.join(this.#folder, 'dist');
    const names = Object.keys(vscode)
      .filter((name) => name !== 'default')
      .map((name) => `export const ${name} = recordedActivation.vscode[${JSON.stringify(name)}];`);
    const recorded = `const recordedActivation = globalThis.recordedActivation;\n`;
    Object.assign(globalThis, {
      recordedActivation: { vscode: this.#record(vscode), timers: this.#timers() },
    });
    mkdirSync(copy);
    writeFileSync(path.join(copy, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(copy, 'vscode.js'), recorded + names.join('\n'));
    const timers = `const { setTimeout, setInterval, clearTimeout, clearInterval } = recordedActivation.timers;\n`;
    for (const file of readdirSync(dist).filter((name) => name.endsWith('.js'))) {
      const text = readFileSync(path.join(dist, file), 'utf8');
      writeFileSync(
        path.join(copy, file),
        recorded + timers + text.replaceAll(/from ?"vscode"/g, 'from"./vscode.js"'),
      );
    }
    return import(pathToFileURL(path.join(copy, 'extension.js')).href);
  }

  #timers() {
    const start =
      (run: (callback: () => void, wait: number) => unknown) => (callback: () => void, wait: number) => {
        const timer = run(() => {
          this.timers.delete(timer);
          callback();
        }, wait);
        this.timers.add(timer);
        return timer;
      };
    const end = (timer: NodeJS.Timeout) => {
      this.timers.delete(timer);
      clearTimeout(timer);
    };
    return {
      setTimeout: start(setTimeout),
      setInterval: start(setInterval),
      clearTimeout: end,
      clearInterval: end,
    };
  }

  dispose(): void {
    for (const each of this.subscriptions.toReversed()) each.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #context(): unknown {
    const secret = (call: string) => async (entry: string) =>
      void this.events.push(`secrets.${call} ${entry}`);
    const memento = {
      get: (entry: string) => this.#storedState[entry],
      update: async () => undefined,
      keys: () => [],
    };
    return {
      subscriptions: this.subscriptions,
      extensionUri: vscode.Uri.file(root),
      extensionPath: root,
      extension,
      globalStorageUri: vscode.Uri.file(this.#storage),
      workspaceState: memento,
      globalState: memento,
      secrets: {
        get: secret('get'),
        store: secret('store'),
        delete: secret('delete'),
        onDidChange: this.#recordCall(''),
      },
    };
  }

  /** Wraps a namespace of VS Code's API. Calls that register, create or listen are recorded. All others are real. */
  #record(real: object): object {
    // The target is an empty object, because a proxy of a frozen object cannot return other values.
    return new Proxy(
      {},
      {
        get: (_target, name) => {
          const value: unknown = Reflect.get(real, name);
          if (name === 'workspaceFolders' && this.workspaceFolder !== undefined)
            return [{ uri: vscode.Uri.file(this.workspaceFolder), name: 'shop', index: 0 }];
          if (name === 'getExtension') return (id: string) => this.#recordExtension(id);
          if (typeof value === 'function' && /^(register|create|onDid)/.test(String(name)))
            return this.#recordCall(String(name));
          const isNamespace = typeof value === 'object' && value !== null && /^[a-z]/.test(String(name));
          return isNamespace ? this.#record(Object(value)) : value;
        },
      },
    );
  }

  #recordExtension(id: string): object {
    const activate = () => void this.events.push(`activate ${id}`);
    const get = (_target: object, name: string | symbol) =>
      name === 'activate' ? activate : Reflect.get(Object(vscode.extensions.getExtension(id)), name);
    return new Proxy({}, { get });
  }

  #recordCall(name: string): (...args: unknown[]) => object {
    return (...args) => {
      this.events.push(typeof args[0] === 'string' ? `${name} ${args[0]}` : name);
      const result = new Proxy(
        { visible: true, selection: [] },
        {
          get: (target, member) => {
            if (member === 'dispose') return () => this.open.delete(result);
            if (String(member).startsWith('onDid')) return this.#recordCall(`${name}.${String(member)}`);
            return Reflect.get(target, member) ?? (() => undefined);
          },
        },
      );
      this.open.add(result);
      return result;
    };
  }
}

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
