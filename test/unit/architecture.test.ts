/** Rules that neither the compiler nor `.dependency-cruiser.mjs` checks: mostly, what may be done in one place only. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { projectFiles, readText } from '../helpers/projectFiles.ts';

interface Source {
  /** Relative to the root, such as `src/extension/window/ui/log.ts`. */
  readonly file: string;
  readonly text: string;
}

const sources: readonly Source[] = projectFiles('src', '.ts').map((file) => ({
  file,
  text: readText(file),
}));

const MAX_FILES = 16;

describe('src', () => {
  it('is read completely', () => {
    assert.ok(sources.length > 60, `${sources.length} files`);
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

  for (const [top, exception] of [
    ['src/extension', 'src/extension/commandSupport/context.ts'],
    ['src/service/postgres', undefined],
  ] as const)
    it(`has rooms in ${top} none of which needs one that needs it`, () => {
      const needs = roomsNeeded(
        top,
        sources.filter(({ file }) => file !== exception),
      );
      assert.ok(needs.size > 10, `${needs.size} rooms`);
      // Takes away the rooms that need no other, again and again: those in a circle remain.
      for (;;) {
        const free = [...needs].flatMap(([room, needed]) => (needed.size === 0 ? [room] : []));
        if (free.length === 0) break;
        for (const room of free) needs.delete(room);
        for (const needed of needs.values()) for (const room of free) needed.delete(room);
      }
      assert.deepEqual([...needs.keys()], []);
    });

  it('creates clients of Postgres in one place, which keeps the environment from them', () => {
    const creating = sources.filter(({ text }) => /^import (?!type ).*'pg(?:\/lib\/client.js)?'/m.test(text));
    assert.deepEqual(
      creating.map(({ file }) => file),
      ['src/base/sql/pgClient.ts'],
    );
  });

  it('starts without undici and TLS', () => {
    const importing = sources.filter(({ text }) => /^import (?!type ).*'node:(?:https?|tls)'/m.test(text));
    assert.deepEqual(importing, []);
  });

  it('runs its own commands only by ids that the compiler checks', () => {
    const unchecked = sources.filter(({ text }) => /commands\.executeCommand\(\s*['"`]hosted/.test(text));
    assert.deepEqual(unchecked, []);
  });
});

/** Which rooms each room below a folder imports from, types included. The folder's own files are rooms, too. */
function roomsNeeded(top: string, files: readonly Source[]): Map<string, Set<string>> {
  const roomOf = (file: string) => file.slice(top.length + 1).split('/')[0] ?? '';
  const needs = new Map<string, Set<string>>();
  for (const { file, text } of files.filter(({ file }) => file.startsWith(`${top}/`))) {
    const needed = needs.get(roomOf(file)) ?? new Set();
    needs.set(roomOf(file), needed);
    for (const [, specifier = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const target = path.posix.join(path.posix.dirname(file), specifier);
      if (target.startsWith(`${top}/`) && roomOf(target) !== roomOf(file)) needed.add(roomOf(target));
    }
  }
  return needs;
}

describe('The local service of root', () => {
  const service = sources.filter(({ file }) => file.startsWith('src/service/'));

  it('has all its code loaded before it gives up the rights to read it', () => {
    const lazy = service.filter(({ text }) => /\bimport\(|\brequire\(/.test(text)).map(({ file }) => file);
    assert.deepEqual(lazy.toSorted(), [
      'src/service/loadEngine.ts',
      'src/service/main.ts',
      // Its package was copied with Postgres to a folder that the service can read.
      'src/service/postgres/catalog/pgDumpModule.ts',
      // The bundle has what this imports in the same file.
      'src/service/postgres/computeServer.ts',
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
    assert.deepEqual(filesWith(/setContext/), ['src/extension/window/ui/contextKey.ts']);
    const text = extension.find(({ file }) => file === 'src/extension/window/ui/contextKey.ts')?.text ?? '';
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
    assert.deepEqual(makers, ['src/extension/window/ui/markdown.ts']);
    assert.deepEqual(filesWith(/\bview\.(?:message|description|title) = /), [
      'src/extension/window/ui/window.ts',
    ]);
    assert.deepEqual(filesWith(/\bnew Diagnostic\(/), [
      'src/extension/computes/ui/settingsDiagnostics.ts',
      'src/extension/database/ui/rehearsalProblems.ts',
    ]);
    assert.deepEqual(filesWith(/\b(?:new|extends) CompletionItem\b/), [
      'src/extension/connection/ui/hostCompletion.ts',
    ]);
  });

  it('sends no change that the marks of the user may forbid', () => {
    const changing = filesWith(
      /(?:[cC]hanges|\b(?:branchActions|computeActions|apiKeys|client|branches|projects|databases|roles))\??\.(?:create|update|delete|revoke|re[sn]|set|start|suspend|protect)\w*\(|\brotateKey\(/,
    );
    // They change in the background, and check the marks themselves.
    const inBackground = [
      'src/extension/branches/ui/protectAbandoned.ts',
      'src/extension/gitBranch/ui/renewal.ts',
    ];
    const unguarded = changing.filter(
      (file) =>
        /\/(?:ui|commands|commandSupport)\//.test(file) &&
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
    const entry = extension.find(({ file }) => file === 'src/extension/extension.ts')?.text ?? '';
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
    const first = loadedBy('src/extension/extension.ts');
    assert.ok(first.has('src/extension/registerCommands.ts'));
    assert.ok(
      !first.has('src/extension/account/session.ts') && !first.has('src/extension/commandHandlers.ts'),
    );
    const later = loadedBy('src/extension/app.ts');
    assert.ok(later.has('src/extension/inventory/inventory.ts'));
    assert.ok(!later.has('src/api/transport/http.ts'));
  });
});

/** Members of VS Code's `window` that show no text of the service. */
const WITHOUT_TEXT =
  /^(activeTextEditor|tabGroups|showTextDocument|showOpenDialog|on\w+|state|terminals|createOutputChannel|register(FileDecorationProvider|UriHandler))$/;

/** The files that make text safe before they show it. */
const MAY_USE_OF_WINDOW: Readonly<Record<string, RegExp>> = {
  'src/extension/window/ui/window.ts':
    /^(show(Information|Warning|Error)Message|showInputBox|withProgress|create(Terminal|StatusBarItem))$/,
  'src/extension/window/ui/input/quickInput.ts': /^create(QuickPick|InputBox)$/,
  'src/extension/window/ui/lazyTreeView.ts': /^createTreeView$/,
};

/** The members of VS Code's own `window` that a file uses. */
function membersOfWindow(text: string): string[] {
  const imported = /^import \{([^}]*)\} from 'vscode';/m.exec(text)?.[1] ?? '';
  const [found, name = 'window'] = /\bwindow\b(?: as (\w+))?/.exec(imported) ?? [];
  if (found === undefined) return [];
  return [...text.matchAll(new RegExp(`(?<![/\\w])${name}\\.(\\w+)`, 'g'))].map(([, member = '']) => member);
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
