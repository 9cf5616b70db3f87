// A second copy of the bundle is activated beside the one VS Code runs, with a VS Code of which everything that
// registers, creates or listens is written down, and with timers that are counted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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

  activate(): void {
    const exported: { activate?: (context: unknown) => unknown } = {};
    const require = createRequire(path.join(root, 'dist', 'extension.js'));
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
      module: { exports: exported },
      exports: exported,
      require: (name: string) => (name === 'vscode' ? this.#watch(vscode) : require(name)),
      setTimeout: start(setTimeout),
      setInterval: start(setInterval),
      clearTimeout: end,
      clearInterval: end,
    };
    const code = readFileSync(path.join(root, 'dist', 'extension.js'), 'utf8');
    compileFunction(code, Object.keys(bindings))(...Object.values(bindings));
    const made = bindings.module.exports.activate?.(this.#context());
    assert.equal(made, undefined, 'activation waits for nothing');
  }

  dispose(): void {
    for (const each of this.subscriptions.toReversed()) each.dispose();
  }

  #context(): unknown {
    const secret = (call: string) => async (entry: string) =>
      void this.events.push(`secrets.${call} ${entry}`);
    const memory = { get: () => undefined, update: async () => undefined, keys: () => [] };
    return {
      subscriptions: this.subscriptions,
      extensionUri: vscode.Uri.file(root),
      extensionPath: root,
      extension,
      globalStorageUri: vscode.Uri.file(path.join(root, 'no-such-folder')),
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

describe('the life of the extension', () => {
  const trial = new Trial();

  it('registers every command and view before any secret is touched, all in one turn', () => {
    trial.activate();
    const { events } = trial;
    assert.ok(extension);
    const { contributes }: Manifest = extension.packageJSON;
    const firstSecret = events.findIndex((event) => /^secrets\.(get|store|delete)/.test(event));
    const before = new Set(events.slice(0, firstSecret === -1 ? undefined : firstSecret));
    const commands = contributes.commands.map(({ command }) => `registerCommand ${command}`);
    const views = Object.values(contributes.views).flatMap((all) =>
      all.map(({ id }) => `createTreeView ${id}`),
    );
    assert.deepEqual(
      [...commands, ...views].filter((event) => !before.has(event)),
      [],
    );
    assert.notEqual(commands.length * views.length, 0);
    assert.notEqual(trial.open.size, 0);
  });

  it('leaves no timer, listener or registration behind when it is disposed', async () => {
    await new Promise(setImmediate);
    trial.dispose();
    assert.deepEqual([...trial.timers], []);
    assert.equal(trial.open.size, 0, `of ${trial.events.join(', ')}`);
  });
});
