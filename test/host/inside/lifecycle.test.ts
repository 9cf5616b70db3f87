// A second copy of the bundle is activated beside the one VS Code runs, with a VS Code of which everything that
// registers, creates or listens is written down, and with timers that are counted.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import * as vscode from 'vscode';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  };
}

const extension = vscode.extensions.getExtension<unknown>('hosted-postgres.hosted-postgres');
const root = extension?.extensionPath ?? '';

class Trial {
  /** In the order of events: `registerCommand hostedPostgres.view.refresh`, `secrets.get …`. */
  readonly events: string[] = [];
  /** Registered, created or listening, and not disposed. */
  readonly open = new Set<object>();
  readonly timers = new Set<unknown>();
  readonly subscriptions: { dispose(): unknown }[] = [];

  readonly #memory: Readonly<Record<string, unknown>>;
  readonly #storage: string = path.join(root, 'no-such-folder');

  /** @param memory what earlier windows have kept; `keyRotations` in a file */
  constructor({ keyRotations, ...memory }: Readonly<Record<string, unknown>> = {}) {
    this.#memory = memory;
    if (keyRotations === undefined) return;
    this.#storage = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-test-'));
    writeFileSync(path.join(this.#storage, 'keyRotations.json'), JSON.stringify(keyRotations));
  }

  activate(): void {
    const { activate } = this.#load('extension.js') as { activate?: (context: unknown) => unknown };
    const made = activate?.(this.#context());
    assert.equal(made, undefined, 'activation waits for nothing');
  }

  /** A bundle and, when it asks for them, the others. */
  #load(name: string): object {
    const module: { exports: object } = { exports: {} };
    const file = path.join(root, 'dist', name);
    const require = createRequire(file);
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
    const bindings = {
      module,
      exports: module.exports,
      require: (wanted: string) => {
        if (wanted.startsWith('./')) return this.#load(path.basename(wanted));
        return wanted === 'vscode' ? this.#watch(vscode) : require(wanted);
      },
      setTimeout: start(setTimeout),
      setInterval: start(setInterval),
      clearTimeout: end,
      clearInterval: end,
    };
    compileFunction(readFileSync(file, 'utf8'), Object.keys(bindings))(...Object.values(bindings));
    return module.exports;
  }

  dispose(): void {
    for (const each of this.subscriptions.toReversed()) each.dispose();
    rmSync(this.#storage, { recursive: true, force: true });
  }

  #context(): unknown {
    const secret = (call: string) => async (entry: string) =>
      void this.events.push(`secrets.${call} ${entry}`);
    const memory = {
      get: (entry: string) => this.#memory[entry],
      update: async () => undefined,
      keys: () => [],
    };
    return {
      subscriptions: this.subscriptions,
      extensionUri: vscode.Uri.file(root),
      extensionPath: root,
      extension,
      globalStorageUri: vscode.Uri.file(this.#storage),
      workspaceState: memory,
      globalState: memory,
      secrets: {
        get: secret('get'),
        store: secret('store'),
        delete: secret('delete'),
        onDidChange: this.#hold(''),
      },
    };
  }

  /** A namespace of VS Code whose functions that hold something are replaced; everything else is as it is. */
  #watch(real: object): object {
    // Not a proxy of the real one, which is frozen: that could not answer otherwise.
    return new Proxy(
      {},
      {
        get: (_target, name) => {
          const value: unknown = Reflect.get(real, name);
          if (typeof value === 'function' && /^(register|create|onDid)/.test(String(name)))
            return this.#hold(String(name));
          const isNamespace = typeof value === 'object' && value !== null && /^[a-z]/.test(String(name));
          return isNamespace ? this.#watch(Object(value)) : value;
        },
      },
    );
  }

  #hold(name: string): (...given: unknown[]) => object {
    return (...given) => {
      this.events.push(typeof given[0] === 'string' ? `${name} ${given[0]}` : name);
      const held = new Proxy(
        { visible: true },
        {
          get: (target, member) => {
            if (member === 'dispose') return () => this.open.delete(held);
            if (String(member).startsWith('onDid')) return this.#hold(`${name}.${String(member)}`);
            return Reflect.get(target, member) ?? (() => undefined);
          },
        },
      );
      this.open.add(held);
      return held;
    };
  }
}

const secretsIn = (events: readonly string[]) =>
  events.filter((event) => /^secrets\.(get|store|delete)/.test(event));

describe('the life of the extension', () => {
  it('registers every command and view in one turn, and then waits to be asked', async () => {
    const trial = new Trial();
    trial.activate();
    const events = new Set(trial.events);
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
    assert.deepEqual([...new Set(trial.events)], [...events]);
    assert.deepEqual(secretsIn(trial.events), []);
    trial.dispose();
    assert.equal(trial.open.size, 0, `of ${trial.events.join(', ')}`);
  });

  for (const [why, memory] of Object.entries({
    'the local service is to run': { 'hostedPostgres.lastAccount': 'local' },
    'a key rotation is pending': {
      keyRotations: {
        'https://example.test/api/v2': { account: 'https://example.test/api/v2', name: 'laptop 2', beat: 1 },
      },
    },
    'a change is under way': {
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
          since: 1,
        },
      ],
    },
  })) {
    it(`begins at once when ${why}, and leaves no timer, listener or registration behind`, async () => {
      const trial = new Trial(memory);
      trial.activate();
      assert.deepEqual(secretsIn(trial.events), []);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      assert.notDeepEqual(secretsIn(trial.events), []);
      trial.dispose();
      assert.deepEqual([...trial.timers], []);
      assert.equal(trial.open.size, 0, `of ${trial.events.join(', ')}`);
    });
  }
});
