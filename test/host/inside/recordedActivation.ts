/** Activates a second copy of the extension in addition to the one that VS Code runs. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';

const extension = vscode.extensions.getExtension<unknown>('hosted-postgres.hosted-postgres');
const root = extension?.extensionPath ?? '';
const dist = path.join(root, 'dist');

/** The file that starts the MCP program. */
export const LAUNCHER = process.platform === 'win32' ? 'hosted-postgres-mcp.cmd' : 'hosted-postgres-mcp';

/** Its VS Code API records everything that is registered, created or listened to, and its timers are counted. */
export class RecordedActivation {
  /** The calls in order: `registerCommand hostedPostgres.view.refresh`, `secrets.get …`. */
  readonly events: string[] = [];
  /** Registrations, objects and listeners that are not disposed. */
  readonly open = new Set<object>();
  readonly timers = new Set<unknown>();
  readonly subscriptions: { dispose(): unknown }[] = [];

  readonly #listeners = new Map<string, readonly ((value: unknown) => void)[]>();
  readonly #appName: string;
  readonly #storedState: Readonly<Record<string, unknown>>;
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-test-'));
  readonly #storage = path.join(this.#folder, 'storage');
  /** The folder that the window shows; by default that of the suites. */
  workspaceFolder: string | undefined;

  /** @param storedState what earlier windows have kept; `keyRotation` in a file */
  constructor(
    { keyRotation, ...storedState }: Readonly<Record<string, unknown>> = {},
    appName = vscode.env.appName,
  ) {
    this.#storedState = storedState;
    this.#appName = appName;
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

  /** As another window does when agents are first used. */
  writeLauncher(): void {
    const folder = path.join(this.#storage, 'agents');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, LAUNCHER), '');
  }

  /** Calls the listeners of an event of VS Code, such as `onDidChangeWindowState`. */
  fire(event: string, value: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(value);
  }

  /** What the extension has written for agents. */
  get agentFiles(): readonly string[] {
    const folder = path.join(this.#storage, 'agents');
    return existsSync(folder) ? readdirSync(folder).toSorted() : [];
  }

  deactivate(): void {
    for (const each of this.subscriptions.splice(0).toReversed()) each.dispose();
  }

  dispose(): void {
    this.deactivate();
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
          if (name === 'appName') return this.#appName;
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
      const [first] = args;
      this.events.push(typeof first === 'string' ? `${name} ${first}` : name);
      if (typeof first === 'function') {
        const listeners = this.#listeners.get(name) ?? [];
        this.#listeners.set(name, [...listeners, (value) => void Reflect.apply(first, undefined, [value])]);
      }
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
