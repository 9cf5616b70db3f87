/** The house rules that a compiler does not know: which floor may import which, and what may be done in one place only. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

interface Source {
  /** From the root, such as `src/ui/log.ts`. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    const file = path.posix.join('src', name.split(path.sep).join('/'));
    const text = readFileSync(path.join(root, file), 'utf8');
    return { file, text, imports: importsOf(file, text) };
  });

/** Files from the root, packages by name; types count like values, and so do dynamic imports. */
function importsOf(file: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:^(?:import|export)\b[^'"]*?from |^import |\bimport\(\s*)'([^']+)'/gms);
  return [...specifiers].map(([, specifier = '']) =>
    specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier,
  );
}

const MODEL_AND_BELOW = ['src/model/', 'src/api/', 'src/base/'];
const SERVICE = [
  'src/service/',
  'src/service/http/',
  'src/service/controlPlane/',
  'src/service/state/',
  'src/service/postgres/',
  'src/service/engineProcess/',
];
const WIRED = ['src/ui/', 'src/ui/tree/', 'src/ui/commands/', 'src/ui/editor/', ...MODEL_AND_BELOW];
/** What each part of the house may import of the house; the longest prefix that fits a file is its part. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/base/': ['src/base/'],
  'src/api/': ['src/api/', 'src/base/'],
  'src/model/': MODEL_AND_BELOW,
  'src/ui/tree/': ['src/ui/tree/', 'src/ui/', ...MODEL_AND_BELOW],
  'src/ui/commands/': ['src/ui/commands/', 'src/ui/', ...MODEL_AND_BELOW],
  'src/ui/editor/': ['src/ui/editor/', 'src/ui/', ...MODEL_AND_BELOW],
  'src/ui/': ['src/ui/', ...MODEL_AND_BELOW],
  // The contract, and what knows nothing of us at all. Inside: http > controlPlane > state; engineProcess > postgres.
  'src/service/': [...SERVICE, 'src/api/', 'src/base/'],
  'src/service/http/': [...SERVICE, 'src/api/', 'src/base/'],
  'src/service/controlPlane/': [
    'src/service/controlPlane/',
    'src/service/state/',
    'src/service/',
    'src/api/',
    'src/base/',
  ],
  'src/service/state/': ['src/service/state/', 'src/service/', 'src/api/', 'src/base/'],
  'src/service/postgres/': ['src/service/postgres/', 'src/service/', 'src/api/', 'src/base/'],
  'src/service/engineProcess/': ['src/service/engineProcess/', 'src/service/postgres/', 'src/service/'],
  'src/app.ts': WIRED,
  'src/extension.ts': ['src/app.ts', ...WIRED],
};
const PARTS = Object.keys(MAY_IMPORT).toSorted((a, b) => b.length - a.length);
const partOf = (file: string): string => PARTS.find((part) => file.startsWith(part)) ?? file;

/** These know nothing of each other; what they share is on the floor below. */
const APART = ['src/ui/tree/', 'src/ui/commands/', 'src/ui/editor/', 'src/ui/statusBar.ts'];
const roomOf = (file: string) => APART.find((room) => file.startsWith(room));

describe('The house', () => {
  it('is read whole', () => {
    assert.ok(sources.length > 60, `${sources.length} files`);
    const app = sources.find(({ file }) => file === 'src/app.ts');
    assert.ok(app?.imports.includes('src/model/session.ts'));
    assert.ok(app?.imports.includes('src/api/client.ts'), 'dynamic imports are seen');
  });

  it('has imports that go down only', () => {
    const wrong = sources.flatMap(({ file, imports }) => {
      const allowed = MAY_IMPORT[partOf(file)] ?? [];
      const own = imports.filter((target) => target.startsWith('src/'));
      return own.filter((target) => !allowed.includes(partOf(target))).map((target) => `${file} → ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('keeps tree, commands, editor and status bar apart', () => {
    const wrong = sources.flatMap(({ file, imports }) => {
      const room = roomOf(file);
      const isElsewhere = (target: string) => roomOf(target) !== undefined && roomOf(target) !== room;
      return room === undefined ? [] : imports.filter(isElsewhere).map((target) => `${file} → ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('lets only the top floor know VS Code', () => {
    const knowing = sources.filter(({ imports }) => imports.includes('vscode')).map(({ file }) => file);
    const top = ['src/app.ts', 'src/extension.ts'];
    const wrong = knowing.filter((file) => !file.startsWith('src/ui/') && !top.includes(file));
    assert.deepEqual(wrong, []);
  });

  it('has no import from below src', () => {
    const wrong = sources.flatMap(({ file, imports }) =>
      imports
        .filter((target) => target.startsWith('test/') || target.startsWith('..'))
        .map((t) => `${file} → ${t}`),
    );
    assert.deepEqual(wrong, []);
  });
});

describe('The engine', () => {
  const engine = sources.filter(({ file }) => /^src\/service\/(postgres|engineProcess)\//.test(file));

  it('has all its code loaded before it gives up the rights to read it', () => {
    const lazy = engine.filter(({ text }) => /\bimport\(|\brequire\(/.test(text)).map(({ file }) => file);
    assert.deepEqual(lazy, []);
  });

  it('gives nothing to another user, which only its process of root could', () => {
    const givers = engine.filter(({ text }) => /\b[lf]?chown(Sync)?\b|\bset[ug]id\b/.test(text));
    assert.deepEqual(givers.map(({ file }) => file).toSorted(), [
      'src/service/engineProcess/engineProcess.ts',
      'src/service/engineProcess/rootsFile.ts',
      'src/service/engineProcess/storageFolder.ts',
    ]);
  });
});

describe('In the whole extension', () => {
  const extension = sources.filter(({ file }) => !file.startsWith('src/service/'));
  const filesWith = (pattern: RegExp) =>
    extension.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

  it('context keys are set in one place', () => {
    assert.deepEqual(filesWith(/'setContext'/), ['src/ui/contextKeys.ts']);
    const text = extension.find(({ file }) => file === 'src/ui/contextKeys.ts')?.text ?? '';
    assert.equal(text.match(/'setContext'/g)?.length, 1);
  });

  it('timers belong to the clock, and to the limits of a request', () => {
    const withTimers = filesWith(/\b(setTimeout|setInterval|setImmediate)\(|node:timers/);
    assert.deepEqual(
      withTimers.filter((file) => !file.startsWith('src/api/')),
      ['src/base/clock.ts'],
    );
  });

  it('errors are told apart by kind wherever they cross a bundle', () => {
    const classes = /instanceof (ApiError|Client|Connection|Session|Inventory)\b/;
    assert.deepEqual(
      filesWith(classes).filter((file) => !file.startsWith('src/api/')),
      [],
    );
  });

  it('the wiring fits on a screen and waits for nothing', () => {
    const entry = extension.find(({ file }) => file === 'src/extension.ts')?.text ?? '';
    assert.ok(entry.split('\n').length <= 81);
    assert.match(entry, /export function activate\(/);
  });

  it('activation loads what it registers alone, and the first question neither zod nor HTTP', () => {
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
    assert.ok(first.has('src/ui/commands/register.ts'));
    assert.ok(!first.has('src/model/session.ts') && !first.has('src/ui/commands/table.ts'));
    const later = loadedBy('src/app.ts');
    assert.ok(later.has('src/model/inventory.ts'));
    assert.ok(!later.has('src/api/http.ts'));
  });
});

/** Those that are there at run time: neither types nor what is loaded later. */
function staticImports({ file, text }: Source): string[] {
  const statements = text.matchAll(/^(?:import|export)\b(?! type\b)([^'"]*?)from '([^']+)'/gms);
  return [...statements].flatMap(([, names = '', specifier = '']) => {
    const list = /\{([\s\S]*)\}/.exec(names)?.[1]?.split(',') ?? [''];
    const isTypesOnly = list.every((name) => name.trim() === '' || name.trim().startsWith('type '));
    if (isTypesOnly && names.includes('{')) return [];
    return [specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier];
  });
}
