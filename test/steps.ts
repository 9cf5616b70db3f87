// The steps of `npm test`. Those of one stage run at the same time; a stage starts when the one before ended.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { sharedWindows } from './host/ui/sharedWindows.ts';
import { projectRoot } from './workbench/folders.ts';

const node = process.execPath;
const script = [node, '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];
const prettier = [node, 'node_modules/prettier/bin/prettier.cjs'];
const mocha = [node, 'node_modules/mocha/bin/mocha.js', '--reporter', './test/resultReporter.ts'];

export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** Where the counts come from: the results file that mocha writes, or one for the step as a whole. */
  readonly counts: 'results' | 'one' | 'nothing';
}

const checks: readonly Step[] = [
  { name: 'lint', command: [node, 'node_modules/oxlint/bin/oxlint'], counts: 'one' },
  {
    name: 'format',
    // Of files whose text is the same as when they were found well formatted, nothing is said again.
    command: [...prettier, '--check', '--cache', '--cache-strategy', 'content', '.'],
    counts: 'one',
  },
  { name: 'types', command: [node, 'node_modules/typescript/bin/tsc', '--noEmit'], counts: 'one' },
];
const unit: Step = { name: 'unit', command: [...mocha, 'test/unit/**/*.test.ts'], counts: 'results' };
/**
 * Suites wait for much else than a core, of which even small machines have two. On a machine for continuous integration,
 * where everything is done for the first time and nobody waits, steadiness is worth more than a minute.
 */
const someAtATime = ['--parallel', '--jobs', process.env['CI'] === undefined ? '3' : '2'];
const longestOfService = [
  ...['pooler', 'stockClients', 'trouble', 'readReplica', 'ordinaryUser'].map((name) => `postgres/${name}`),
  'crash',
];
const service: Step = {
  name: 'service',
  command: [...mocha, ...someAtATime, ...suites('service', longestOfService)],
  counts: 'results',
};
const trust: Step = {
  name: 'trust',
  command: [...mocha, '--timeout', '60000', 'test/trust/**/*.test.ts'],
  counts: 'results',
};
const install: Step = {
  name: 'install',
  command: [...script, 'test/workbench/install.ts'],
  counts: 'nothing',
};
/** As it ships, so that what is tested is what users get, and weighs no more than it may. */
const build: Step = {
  name: 'build',
  command: [...script, 'esbuild.mjs', '--tests', '--production'],
  counts: 'one',
};
const inside: Step = {
  name: 'inside VS Code',
  command: [...script, 'test/host/inside.ts'],
  counts: 'results',
};
const ui: Step = {
  name: 'through the UI',
  command: [...mocha, '--timeout', '60000', ...someAtATime, ...uiSuites()],
  counts: 'results',
};

/**
 * The files of suites in a folder, at any depth: the longest first, so that none of them is left to the end, when the
 * others have nothing more to do.
 */
function suites(folder: string, longest: readonly string[]): string[] {
  const root = path.join(projectRoot, 'test', folder);
  const first = longest.map((name) => path.normalize(`${name}.test.ts`));
  const all = readdirSync(root, { encoding: 'utf8', recursive: true });
  const others = all.filter((name) => name.endsWith('.test.ts') && !first.includes(name));
  return [...first, ...others].map((name) => path.join(root, name));
}

/** Those that share a window are loaded by the file of that name. */
function uiSuites(): string[] {
  const folder = path.join(projectRoot, 'test', 'host', 'ui');
  const names = Object.values(sharedWindows).flatMap((window) => window.suites);
  const shared = new Set(names.map((name) => path.join(folder, `${name}.test.ts`)));
  const windows = Object.keys(sharedWindows).map((name) => path.join(folder, `${name}.ts`));
  return [
    ...windows,
    ...suites('host/ui', ['editorConnectionStrings', 'network']).filter((file) => !shared.has(file)),
  ];
}

/** The stages of a run, by its name: everything, or the suites in VS Code alone. */
export const plans = {
  all: [
    [install, build],
    [service, trust, unit, ...checks],
    [ui, inside],
  ],
  host: [
    [install, build],
    [ui, inside],
  ],
} satisfies Record<string, readonly (readonly Step[])[]>;
