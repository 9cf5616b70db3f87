// Runs suites in the chroot of `setUp.sh`, and prints the result of each: those that are named, or all that Windows can run.
// What needs git, which Wine lacks, fails there, and times say nothing. Wine itself crashes now and then ("wineserver crashed" in a
// log): the suite hangs, has no result, and passes the next time.
//   node scripts/windows/runSuites.ts FOLDER [SUITE|FOLDER OF SUITES…] [OPTION OF MOCHA, such as --fgrep=TITLE or --invert…]
// The sizes of random suites come from the same variables as on other systems, such as HISTORIES=2. SUITE_MINUTES ends a suite earlier.
import { spawnSync } from 'node:child_process';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withoutUnix } from '../../test/windowsSuites.ts';

interface TestResult {
  /** Hooks of all suites have none. */
  readonly file?: string;
  readonly fullTitle: string;
  readonly err: { readonly message?: string };
}
interface Report {
  readonly passes: readonly TestResult[];
  readonly pending: readonly TestResult[];
  readonly failures: readonly TestResult[];
}

/** Milliseconds. A test, or a suite, that takes longer hangs: some start hundreds of sessions, each of which is a process. */
const TEST_LIMIT = 20 * 60_000;
const SUITE_LIMIT = Number(process.env['SUITE_MINUTES'] ?? 60) * 60_000;
const SIZES = ['SEED', 'HISTORIES', 'MINUTES'];
/** Paths in the chroot. A copy of the first one, named by the variable, lets two runs share the chroot. */
const prefix = process.env['WINEPREFIX'] ?? '/wine';
const reportFile = `${prefix}/report.json`;
const [root = '', ...rest] = process.argv.slice(2);
const options = rest.filter((each) => each.startsWith('--'));
const named = rest.filter((each) => !each.startsWith('--'));
/** In the first one is what suites make once: the built service, and the template of all branches. `setUp.sh` removes it. */
for (const folder of ['drive_c/shared', 'logs'])
  mkdirSync(path.join(root, prefix, folder), { recursive: true });

(named.length > 0 ? named : ['test/unit', ...realSuites()]).forEach(run);

function realSuites(): string[] {
  const command = globSync('test/real/**/*.test.ts').map((file) => path.resolve(file));
  const step = withoutUnix({ name: 'real', command, counts: 'results' });
  return step.command.map((file) => path.relative('.', file)).toSorted();
}

function run(name: string): void {
  // Suites of a folder share a process, because each start takes ten seconds.
  const suites = globSync(name.endsWith('.test.ts') ? name : `${name}/**/*.test.ts`).toSorted();
  // A suite that was cut off leaves its servers, and Wine stands still after some.
  inside('/dev/null', '/usr/lib/x86_64-linux-gnu/wine/wineserver', '-k');
  rmSync(path.join(root, reportFile), { force: true });
  const log = path.join(root, prefix, 'logs', `${path.basename(name)}.log`);
  const node = ['node_modules/node/bin/node.exe', '--require', './scripts/windows/junctions.cjs'];
  const reporter = [
    '--reporter',
    './scripts/windows/progress.cjs',
    '--reporter-option',
    `output=Z:${reportFile}`,
  ];
  // Some processes never notice that nothing is left to do.
  const mocha = ['node_modules/mocha/bin/mocha.js', '--exit', '--timeout', String(TEST_LIMIT), ...reporter];
  inside(log, 'wine', ...node, ...mocha, ...options, ...suites);
  const report = readReport();
  if (report === undefined) console.log(`${name}: ended after ${passedIn(log)} passed, see ${log}`);
  else {
    for (const suite of suites)
      print(suite, report, (file) => file?.replaceAll('\\', '/').endsWith(`/project/${suite}`) === true);
    const isOfAll = (file?: string) => file === undefined;
    if (report.failures.some(({ file }) => isOfAll(file))) print(`${name}, hooks`, report, isOfAll);
  }
}

/** @returns how many tests passed until the suite was ended, by what `progress.cjs` has written */
function passedIn(log: string): number {
  return readFileSync(log, 'utf8').match(/^\d+ s: pass /gm)?.length ?? 0;
}

/** Runs a program in the chroot. It writes to a file, because Node under Wine can't write to a pipe from outside. */
function inside(log: string, ...command: readonly string[]): void {
  const wine = { HOME: '/root', PATH: '/usr/bin:/bin', WINEDEBUG: '-all', WINEPREFIX: prefix };
  // Without LANG, a name such as `Jürgen` can't be a folder.
  const variables = { ...wine, LANG: 'C.UTF-8', TEST_SHARED_FOLDER: String.raw`C:\shared` };
  const sizes = SIZES.map((name) => [name, process.env[name]] as const).filter(([, value]) => value);
  const environment = [...Object.entries(variables), ...sizes].map(([name, value]) => `${name}=${value}`);
  const start = [root, 'env', '--ignore-environment', '--chdir=/root/project', ...environment];
  const output = openSync(log, 'w');
  spawnSync('chroot', [...start, ...command], {
    stdio: ['ignore', output, output],
    timeout: SUITE_LIMIT,
    killSignal: 'SIGKILL',
  });
  closeSync(output);
}

function readReport(): Report | undefined {
  try {
    return JSON.parse(readFileSync(path.join(root, reportFile), 'utf8'));
  } catch {
    return undefined; // The suite has not ended.
  }
}

function print(
  name: string,
  { passes, failures, pending }: Report,
  isOfIt: (file: string | undefined) => boolean,
): void {
  const [passed, failed, skipped] = [passes, failures, pending].map((results) =>
    results.filter(({ file }) => isOfIt(file)),
  );
  console.log(`${name}: ${passed?.length} passed, ${failed?.length} failed, ${skipped?.length} skipped`);
  for (const { fullTitle, err } of failed ?? [])
    console.log(`    ${fullTitle}\n        ${err.message?.replaceAll('\n', '\n        ')}`);
}
