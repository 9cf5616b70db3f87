// The steps of `npm test` and of what `npm run test:all` runs after them. Two steps of a stage run at a time, in this order, next to
// those that wait. The stages run one after the other.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { sharedWindows } from './host/ui/sharedWindows.ts';
import { laterRealSuites, laterUnitSuites } from './laterSuites.ts';
import { TEST_LIMIT } from './limits.ts';
import { suite, withoutUnix } from './windowsSuites.ts';
import { projectRoot } from './workbench/folders.ts';

const node = process.execPath;
const mocha = [
  node,
  'node_modules/mocha/bin/mocha.js',
  '--reporter',
  './test/resultReporter.ts',
  '--timeout',
  String(TEST_LIMIT),
];

export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** How the step is counted: by mocha's results file, or as one test. */
  readonly counts: 'results' | 'one';
  /** Whether it waits most of its time, so that it runs next to two others. */
  readonly isIdle?: boolean;
  /** What of it can't run on this system, and why. The summary shows it. */
  readonly leftOut?: string;
  /** Whether the step as a whole is left out. */
  readonly isSkipped?: boolean;
}

/** A step that is counted as one test. */
const program = (name: string, ...command: string[]): Step => ({
  name,
  command: [node, ...command],
  counts: 'one',
});

/** What `npm test` does through the UI. */
const firstWindow = 'firstWindow';

/** Lint checks the types as well, with TypeScript's next compiler. */
const lint: Step = program('lint', 'node_modules/oxlint/bin/oxlint');
const checks: readonly Step[] = [
  lint,
  program(
    'imports',
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    'src',
    '--config',
    '.dependency-cruiser.mjs',
  ),
  program('format', 'node_modules/oxfmt/bin/oxfmt', '--check'),
  program('manifest', 'scripts/manifest.ts', '--check'),
];
/** The types again, with the compiler of the language server. */
const types: Step = program('types', 'node_modules/typescript/bin/tsc', '--noEmit');
/** Suites wait half of their time, so two steps with two suites each fit on two cores. */
const parallel = ['--parallel', '--jobs', '2'];
const unit: Step = {
  name: 'unit',
  command: [...mocha, ...parallel, ...suites('unit', [], laterUnitSuites)],
  counts: 'results',
};
const moreUnit: Step = {
  name: 'more unit',
  command: [...mocha, ...laterUnitSuites.map((name) => suite('unit', name))],
  counts: 'results',
};
/** What needs a real service, program or network. */
const real: Step = {
  name: 'real',
  command: [...mocha, ...parallel, ...suites('real', ['service/postgres/access'], laterRealSuites)],
  counts: 'results',
};
const install: Step = program('install', 'test/workbench/install.ts');
/** Makes what the suites of all processes share, so that they don't each begin to. */
const shared: Step = program('shared', 'test/helpers/makeShared.ts');
/** Builds for production, so that the tests run what users get and the size budget is checked. */
const build: Step = program('build', 'esbuild.mjs', '--tests', '--production');
const inside: Step = {
  name: 'inside VS Code',
  command: [node, 'test/host/inside.ts'],
  counts: 'results',
};
const ui: Step = {
  name: 'through the UI',
  command: [...mocha, path.join(projectRoot, 'test', 'host', 'ui', `${firstWindow}.ts`)],
  counts: 'results',
};
/** Two steps, too: the windows that suites share, and the suites with a window each. */
const otherWindows: Step = {
  name: 'other windows',
  command: [...mocha, ...parallel, ...otherSharedWindows()],
  counts: 'results',
};
const ownWindows: Step = {
  name: 'own windows',
  command: [...mocha, ...parallel, ...suitesWithOwnWindow()],
  counts: 'results',
};
/** Builds packages from dist/ and tries one without network and Postgres. */
const packages: Step = {
  name: 'packages',
  command: [...mocha, ...suites('package', ['package'])],
  counts: 'results',
};
/** Two steps, so that neither is near the limit of one on a slow machine. */
const moreService = laterReal('more service', (name) => name.startsWith('service/'));
const moreClients = laterReal('more clients', (name) => !name.startsWith('service/'));
/** Mixed use, in which nothing may grow: five minutes, and half an hour in the full run. */
const soak: Step = { ...program('soak', 'test/soak/run.ts'), isIdle: true };

/**
 * Returns the suites in a folder, at any depth. The longest come first, so that none of them runs alone at the end.
 */
function suites(folder: string, longest: readonly string[], later: readonly string[] = []): string[] {
  const root = path.join(projectRoot, 'test', folder);
  const toFile = (name: string) => path.normalize(`${name}.test.ts`);
  const [first, excluded] = [longest.map(toFile), later.map(toFile)];
  const all = readdirSync(root, { encoding: 'utf8', recursive: true });
  const rest = all.filter(
    (name) => name.endsWith('.test.ts') && !first.includes(name) && !excluded.includes(name),
  );
  return [...first, ...rest].map((name) => path.join(root, name));
}

function laterReal(name: string, isPart: (suiteName: string) => boolean): Step {
  const files = laterRealSuites.filter(isPart).map((each) => suite('real', each));
  return { name, command: [...mocha, ...parallel, ...files], counts: 'results' };
}

/** Suites that share a window are loaded by the file named after the window. */
function otherSharedWindows(): string[] {
  const windows = Object.keys(sharedWindows).filter((name) => name !== firstWindow);
  return windows.map((name) => uiFile(`${name}.ts`));
}

function uiFile(name: string): string {
  return path.join(projectRoot, 'test', 'host', 'ui', name);
}

function suitesWithOwnWindow(): string[] {
  const names = Object.values(sharedWindows).flatMap((window) => window.suites);
  const shared = new Set(names.map((name) => uiFile(`${name}.test.ts`)));
  return suites('host/ui', ['connections', 'hostileText']).filter((file) => !shared.has(file));
}

/**
 * `test` is `npm test`, `beyond` what `npm run test:all` runs after it, `quick` what one runs while working, `real` what starts
 * services and programs, and `host` what runs in VS Code.
 */
const plans = {
  test: [
    [install, build, shared],
    [unit, ui, real, ...checks],
  ],
  beyond: [[otherWindows, soak, moreService, ownWindows, moreClients, inside, packages, moreUnit, types]],
  quick: [[unit, lint]],
  real: [[real, moreService, moreClients]],
  host: [
    [install, build],
    [ui, inside, otherWindows, ownWindows],
  ],
} satisfies Record<string, readonly (readonly Step[])[]>;

/** Returns the plans of these names, one after the other, as they run on this system. On Linux they are complete. */
export function planFor(...names: readonly string[]): readonly (readonly Step[])[] {
  const found = names.map((name) => {
    const plan = Object.entries(plans).find(([each]) => each === name)?.[1];
    if (plan === undefined) throw new Error(`There is no plan ${name}`);
    return plan;
  });
  return found.flat().map((stage) => stage.map(onThisSystem));
}

function onThisSystem(step: Step): Step {
  if (process.platform === 'win32') return onWindows(step);
  return process.platform === 'darwin' ? onMac(step) : step;
}

function onMac(step: Step): Step {
  return step === soak ? { ...step, isSkipped: true, leftOut: 'it reads /proc' } : step;
}

function onWindows(step: Step): Step {
  switch (step) {
    case real:
    case moreService:
    case moreClients:
      return withoutUnix(step);
    case packages:
      return { ...step, isSkipped: true, leftOut: 'packages need the run bits of Unix' };
    case install:
    case shared:
    case soak:
    case ui:
    case otherWindows:
    case ownWindows:
    case inside:
      return { ...step, isSkipped: true, leftOut: 'the web workbench has no server for Windows' };
    default:
      return step;
  }
}
