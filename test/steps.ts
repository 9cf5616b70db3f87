// The steps of `npm test`. The steps of a stage run at the same time, and the stages one after the other.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { sharedWindows } from './host/ui/sharedWindows.ts';
import { projectRoot } from './workbench/folders.ts';

const node = process.execPath;
const prettier = [node, 'node_modules/prettier/bin/prettier.cjs'];
const mocha = [node, 'node_modules/mocha/bin/mocha.js', '--reporter', './test/resultReporter.ts'];

export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** How the step is counted: by mocha's results file, as one test, or not at all. */
  readonly counts: 'results' | 'one' | 'nothing';
  /** What of it can't run on this system, and why. The summary shows it. */
  readonly leftOut?: string;
  /** Whether the step as a whole is left out. */
  readonly isSkipped?: boolean;
}

const checks: readonly Step[] = [
  { name: 'lint', command: [node, 'node_modules/oxlint/bin/oxlint'], counts: 'one' },
  {
    name: 'format',
    // Skips files that have not changed since the last successful check.
    command: [...prettier, '--check', '--cache', '--cache-strategy', 'content', '.'],
    counts: 'one',
  },
  { name: 'types', command: [node, 'node_modules/typescript/bin/tsc', '--noEmit'], counts: 'one' },
];
const unit: Step = { name: 'unit', command: [...mocha, 'test/unit/**/*.test.ts'], counts: 'results' };
/**
 * Suites spend most of their time waiting, so three at a time fit on two cores. On CI, where every cache is cold,
 * stability matters more than one minute.
 */
const parallel = ['--parallel', '--jobs', process.env['CI'] === undefined ? '3' : '2'];
const longestServiceSuites = [
  ...['network/pooler', 'network/stockClients', 'trouble', 'replica/readReplica', 'ordinaryUser'].map(
    (name) => `postgres/${name}`,
  ),
  'crash',
];
/**
 * Suites that need neither signals nor Postgres, which doesn't run as administrator, as CI does on Windows. Every suite in
 * `test/unit` runs on Windows, and `npm run test:desktop` runs the suites inside VS Code there.
 */
const windowsServiceSuites = [
  'apiKeys',
  'computeChanges',
  'computes',
  'controlPlane',
  'journal',
  'pipelining',
  'postgres/process/runProgram',
  'projects',
  'rawRequests',
  'requests',
  'revokedKeys',
  'windowsFiles',
];
const serviceSuites = suites('service', longestServiceSuites);
const service: Step = {
  name: 'service',
  command: [...mocha, ...parallel, ...serviceSuites],
  counts: 'results',
};
const longestTrustSuites = ['localService', 'network', 'strangers'];
const trust: Step = {
  name: 'trust',
  command: [...mocha, '--parallel', '--jobs', '2', ...suites('trust', longestTrustSuites)],
  counts: 'results',
};
const install: Step = {
  name: 'install',
  command: [node, 'test/workbench/install.ts'],
  counts: 'nothing',
};
/** Builds for production, so that the tests run what users get and the size budget is checked. */
const build: Step = {
  name: 'build',
  command: [node, 'esbuild.mjs', '--tests', '--production'],
  counts: 'one',
};
const inside: Step = {
  name: 'inside VS Code',
  command: [node, 'test/host/inside.ts'],
  counts: 'results',
};
const ui: Step = {
  name: 'through the UI',
  command: [...mocha, '--timeout', '180000', ...parallel, ...uiSuites()],
  counts: 'results',
};
/** Builds packages from dist/ and tries one without network and Postgres. */
const packages: Step = {
  name: 'packages',
  command: [...mocha, ...suites('package', ['package'])],
  counts: 'results',
};

/**
 * Returns the suites in a folder, at any depth. The longest come first, so that none of them runs alone at the end.
 */
function suites(folder: string, longest: readonly string[]): string[] {
  const root = path.join(projectRoot, 'test', folder);
  const first = longest.map((name) => path.normalize(`${name}.test.ts`));
  const all = readdirSync(root, { encoding: 'utf8', recursive: true });
  const others = all.filter((name) => name.endsWith('.test.ts') && !first.includes(name));
  return [...first, ...others].map((name) => path.join(root, name));
}

/** Suites that share a window are loaded by the file named after the window. */
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

/** The stages of each plan: everything, or only the suites in VS Code. */
const plans = {
  all: [
    [install, build],
    [service, trust, unit, ...checks],
    [ui, inside, packages],
  ],
  host: [
    [install, build],
    [ui, inside],
  ],
} satisfies Record<string, readonly (readonly Step[])[]>;

/** Returns a plan as it runs on this system. On Linux and macOS it is complete. */
export function planFor(name: string): readonly (readonly Step[])[] {
  if (name !== 'all' && name !== 'host') throw new Error(`There is no plan ${name}`);
  return process.platform === 'win32' ? plans[name].map((stage) => stage.map(onWindows)) : plans[name];
}

function onWindows(step: Step): Step {
  switch (step) {
    case service: {
      const files = windowsServiceSuites.map((name) => serviceSuite(name));
      const others = serviceSuites.length - files.length;
      const leftOut = `${others} suites need signals, or Postgres, which refuses to run as administrator`;
      return { ...step, command: [...mocha, ...parallel, ...files], leftOut };
    }
    case packages:
      return { ...step, isSkipped: true, leftOut: 'packages need the run bits of Unix' };
    case trust:
      return { ...step, isSkipped: true, leftOut: 'its suites need signals and file modes' };
    case install:
    case ui:
    case inside:
      return { ...step, isSkipped: true, leftOut: 'the web workbench has no server for Windows' };
    default:
      return step;
  }
}

const serviceSuite = (name: string): string =>
  path.join(projectRoot, 'test', 'service', path.normalize(`${name}.test.ts`));
