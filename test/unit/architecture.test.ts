/** Rules that the compiler can't check: which folder may import which, and what may be done in one place only. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { projectFiles, readText } from '../helpers/projectFiles.ts';

interface Source {
  /** Relative to the root, such as `src/ui/log/log.ts`. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = projectFiles('src', '.ts').map((file) => {
  const text = readText(file);
  return { file, text, imports: importsOf(file, text) };
});

/** Files relative to the root and package names, including type-only and dynamic imports. */
function importsOf(file: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:^(?:import|export)\b[^'"]*?from |^import |\bimport\(\s*)'([^']+)'/gms);
  return [...specifiers].map(([, specifier = '']) =>
    specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier,
  );
}

/** What the local service and its clients say to each other before they trust each other. */
const LEASE_PROOF = 'src/localService/leaseProof.ts';
/** The local service from outside: windows, `npx`, the test library and the MCP server use it, but not the service. */
const LOCAL_SERVICE = ['src/localService/', LEASE_PROOF, 'src/api/', 'src/base/'];
const MODEL_AND_BELOW = ['src/model/', ...LOCAL_SERVICE];
/** What every folder of the local service may use. */
const SERVICE_SHARED = ['src/service/core/', LEASE_PROOF, 'src/api/', 'src/base/'];
const STATE_AND_BELOW = ['src/service/state/', ...SERVICE_SHARED];
const CONTROL_PLANE_AND_BELOW = ['src/service/controlPlane/', ...STATE_AND_BELOW];
const HTTP_AND_BELOW = ['src/service/http/', ...CONTROL_PLANE_AND_BELOW];
/** What every folder of `ui/` may use. */
const UI_SHARED = ['src/ui/', 'src/ui/text/', 'src/ui/state/', 'src/ui/notifications/', 'src/ui/log/'];
/** These must not import one another; what they share is in `UI_SHARED` or below. */
const UI_FEATURES = ['tree', 'commands', 'editor', 'settings', 'schema', 'details', 'agents'].map(
  (name) => `src/ui/${name}/`,
);
const UI = [...UI_SHARED, ...UI_FEATURES, ...MODEL_AND_BELOW];
/** What each part of `src` may import from `src`. A file belongs to the part with the longest matching prefix. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/base/': ['src/base/'],
  'src/api/': ['src/api/', 'src/base/'],
  [LEASE_PROOF]: ['src/api/', 'src/base/'],
  'src/localService/': LOCAL_SERVICE,
  'src/model/': MODEL_AND_BELOW,
  ...Object.fromEntries(
    [...UI_SHARED, ...UI_FEATURES].map((part) => [part, [part, ...UI_SHARED, ...MODEL_AND_BELOW]]),
  ),
  // The local service: http > controlPlane > state.
  'src/service/': ['src/service/', 'src/service/postgres/', 'src/service/privileges/', ...HTTP_AND_BELOW],
  'src/service/core/': SERVICE_SHARED,
  'src/service/http/': HTTP_AND_BELOW,
  'src/service/controlPlane/': CONTROL_PLANE_AND_BELOW,
  'src/service/state/': STATE_AND_BELOW,
  'src/service/postgres/': ['src/service/postgres/', ...SERVICE_SHARED],
  'src/service/privileges/': ['src/service/privileges/', 'src/service/postgres/', ...STATE_AND_BELOW],
  'src/npm/test/': ['src/npm/test/', 'src/npm/', ...LOCAL_SERVICE],
  'src/mcp/': ['src/mcp/', ...MODEL_AND_BELOW],
  'src/npm/': ['src/npm/', 'src/service/', 'src/service/core/', ...LOCAL_SERVICE],
  'src/app.ts': UI,
  'src/extension.ts': ['src/app.ts', ...UI],
};
const PARTS = Object.keys(MAY_IMPORT).toSorted((a, b) => b.length - a.length);
const partOf = (file: string): string => PARTS.find((part) => file.startsWith(part)) ?? file;

const MAX_FILES = 16;

describe('src', () => {
  it('is read completely', () => {
    assert.ok(sources.length > 60, `${sources.length} files`);
    const model = sources.find(({ file }) => file === 'src/ui/windowModel.ts');
    assert.ok(model?.imports.includes('src/model/account/session.ts'));
    assert.ok(model?.imports.includes('src/api/client.ts'), 'dynamic imports are found');
  });

  it('has only allowed imports: downwards, and none between the features of ui', () => {
    const wrong = sources.flatMap(({ file, imports }) => {
      const allowed = MAY_IMPORT[partOf(file)] ?? [];
      const internal = imports.filter((target) => target.startsWith('src/'));
      return internal
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${file} → ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('has no folder with more files than a reader can take in', () => {
    const counts = new Map<string, number>();
    for (const { file } of sources) {
      const folder = path.posix.dirname(file);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([, count]) => count > MAX_FILES);
    assert.deepEqual(crowded, []);
  });

  it('has no import circles, type-only ones included', () => {
    assert.deepEqual(importCircles(), []);
  });

  it('imports the status bar only where everything is wired', () => {
    const bar = 'src/ui/notifications/statusBar.ts';
    const importing = sources.filter(({ imports }) => imports.includes(bar)).map(({ file }) => file);
    assert.deepEqual(importing, ['src/app.ts']);
  });

  it('creates clients of Postgres in one place, which keeps the environment from them', () => {
    const creating = sources.filter(({ text }) => /^import (?!type ).*'pg(?:\/lib\/client.js)?'/m.test(text));
    assert.deepEqual(
      creating.map(({ file }) => file),
      ['src/base/pgClient.ts'],
    );
  });

  it('imports vscode only in ui and the files that wire it', () => {
    const importing = sources.filter(({ imports }) => imports.includes('vscode')).map(({ file }) => file);
    const top = ['src/app.ts', 'src/extension.ts'];
    const wrong = importing.filter((file) => !file.startsWith('src/ui/') && !top.includes(file));
    assert.deepEqual(wrong, []);
  });

  it('imports nothing outside src', () => {
    const wrong = sources.flatMap(({ file, imports }) =>
      imports
        .filter((target) => target.startsWith('test/') || target.startsWith('..'))
        .map((t) => `${file} → ${t}`),
    );
    assert.deepEqual(wrong, []);
  });
});

describe('The local service of root', () => {
  const service = sources.filter(({ file }) => file.startsWith('src/service/'));

  it('has all its code loaded before it gives up the rights to read it', () => {
    const lazy = service.filter(({ text }) => /\bimport\(|\brequire\(/.test(text)).map(({ file }) => file);
    assert.deepEqual(lazy.toSorted(), [
      'src/service/loadEngine.ts',
      'src/service/main.ts',
      // Its package was copied with Postgres to where it can be read.
      'src/service/postgres/catalog/pgDumpModule.ts',
      // In the bundle, what it imports is in the same file.
      'src/service/postgres/compute.ts',
    ]);
  });

  it('gives files to another user only before that', () => {
    const givers = service.filter(({ text }) => /\b[lf]?chown(Sync)?\b|\bset[ug]id\b/.test(text));
    assert.deepEqual(givers.map(({ file }) => file).toSorted(), [
      'src/service/privileges/storageFolder.ts',
      'src/service/privileges/unixAccount.ts',
    ]);
  });
});

describe('The extension', () => {
  const extension = sources.filter(({ file }) => !/^src\/(?:service|mcp|npm)\//.test(file));
  const filesWith = (pattern: RegExp) =>
    extension.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

  it('sets context keys in one place', () => {
    assert.deepEqual(filesWith(/setContext/), ['src/ui/state/contextKey.ts']);
    const text = extension.find(({ file }) => file === 'src/ui/state/contextKey.ts')?.text ?? '';
    assert.deepEqual(text.match(/'setContext'.*/g), ["'setContext', key, value);"]);
  });

  it('shows text only through functions that make it safe', () => {
    const wrong = extension.flatMap(({ file, text }) =>
      membersOfWindow(text)
        .filter((member) => !(MAY_USE_OF_WINDOW[file] ?? WITHOUT_TEXT).test(member))
        .map((member) => `${file}: ${member}`),
    );
    assert.deepEqual(wrong, []);
    const makers = filesWith(/\bnew MarkdownString\b|\.appendMarkdown\(|\.isTrusted = |\.supportHtml\b/);
    assert.deepEqual(makers, ['src/ui/text/markdown.ts']);
    assert.deepEqual(filesWith(/\bview\.(?:message|description|title) = /), ['src/ui/window.ts']);
    assert.deepEqual(filesWith(/\bnew Diagnostic\(/), ['src/ui/settings/settingsDiagnostics.ts']);
    assert.deepEqual(filesWith(/\b(?:new|extends) CompletionItem\b/), ['src/ui/editor/hostCompletion.ts']);
  });

  it('sends no change that the marks of the user may forbid', () => {
    const changing = filesWith(
      /(?:[cC]hanges|\b(?:branchActions|computeActions|apiKeys|client|branches|projects|databases|roles))\??\.(?:create|update|delete|revoke|re[sn]|set|start|suspend|protect)\w*\(|\brotateKey\(/,
    );
    // They change in the background, and check the marks themselves.
    const inBackground = ['src/ui/notifications/protectAbandoned.ts', 'src/ui/workBranch/renewal.ts'];
    const unguarded = changing.filter(
      (file) =>
        file.startsWith('src/ui/') &&
        !inBackground.includes(file) &&
        !filesWith(/\b(?:approve\w*|makeChange)\(/).includes(file),
    );
    assert.ok(changing.length > 5);
    assert.deepEqual(unguarded, []);
  });

  it('starts timers only in the clock and for deadlines of requests', () => {
    const withTimers = filesWith(/\b(setTimeout|setInterval|setImmediate)\(|node:timers/);
    assert.deepEqual(
      withTimers.filter((file) => !file.startsWith('src/api/')),
      ['src/base/clock.ts'],
    );
  });

  it('has a short, synchronous activate function', () => {
    const entry = extension.find(({ file }) => file === 'src/extension.ts')?.text ?? '';
    assert.ok(entry.split('\n').length <= 81);
    assert.match(entry, /export function activate\(/);
  });

  it('loads neither the model at activation nor zod and HTTP with the app', () => {
    const byFile = new Map(extension.map((source) => [source.file, source]));
    const loadedBy = (file: string, loaded = new Set<string>()) => {
      const source = byFile.get(file);
      if (source === undefined || loaded.has(file)) return loaded;
      loaded.add(file);
      for (const target of staticImports(source)) {
        assert.ok(!['zod/mini', 'zod', 'undici'].includes(target), `${file} loads ${target}`);
        loadedBy(target, loaded);
      }
      return loaded;
    };
    const first = loadedBy('src/extension.ts');
    assert.ok(first.has('src/ui/commandTable/register.ts'));
    assert.ok(!first.has('src/model/account/session.ts') && !first.has('src/ui/commandTable/commands.ts'));
    const later = loadedBy('src/app.ts');
    assert.ok(later.has('src/model/inventory/inventory.ts'));
    assert.ok(!later.has('src/api/transport/http.ts'));
  });
});

/** Members of VS Code's `window` that show no text of the service. */
const WITHOUT_TEXT =
  /^(activeTextEditor|tabGroups|showTextDocument|showOpenDialog|on\w+|state|terminals|createOutputChannel|register(FileDecorationProvider|UriHandler))$/;

/** The files that make text safe before they show it. */
const MAY_USE_OF_WINDOW: Readonly<Record<string, RegExp>> = {
  'src/ui/window.ts':
    /^(show(Information|Warning|Error)Message|showInputBox|withProgress|create(Terminal|StatusBarItem))$/,
  'src/ui/commands/input/quickInput.ts': /^create(QuickPick|InputBox)$/,
  'src/ui/tree/lazyTreeView.ts': /^createTreeView$/,
};

/** The members of VS Code's own `window` that a file uses. */
function membersOfWindow(text: string): string[] {
  const imported = /^import \{([^}]*)\} from 'vscode';/m.exec(text)?.[1] ?? '';
  const [found, name = 'window'] = /\bwindow\b(?: as (\w+))?/.exec(imported) ?? [];
  if (found === undefined) return [];
  return [...text.matchAll(new RegExp(`(?<![/\\w])${name}\\.(\\w+)`, 'g'))].map(([, member = '']) => member);
}

/** The files left after all that import none of the others, or that none of the others imports, were taken out repeatedly. */
function importCircles(left = sources): string[] {
  const files = new Set(left.map(({ file }) => file));
  const imported = new Set(left.flatMap(({ imports }) => imports));
  const rest = left.filter(
    ({ file, imports }) => imported.has(file) && imports.some((target) => files.has(target)),
  );
  return rest.length === left.length ? rest.map(({ file }) => file) : importCircles(rest);
}

/** Imports that remain at run time, without dynamic ones. */
function staticImports({ file, text }: Source): string[] {
  const statements = text.matchAll(/^(?:import|export)\b(?! type\b)([^'"]*?)from '([^']+)'/gms);
  return [...statements].flatMap(([, names = '', specifier = '']) => {
    const list = /\{([\s\S]*)\}/.exec(names)?.[1]?.split(',') ?? [''];
    const isTypesOnly = list.every((name) => name.trim() === '' || name.trim().startsWith('type '));
    if (isTypesOnly && names.includes('{')) return [];
    return [specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier];
  });
}
