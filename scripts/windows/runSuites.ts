// Runs suites in the chroot of `setUp.sh`, and prints the result of each: those that are named, or all that Windows can run.
// What needs git, which Wine lacks, fails there, and times say nothing. Wine itself crashes now and then: all of it stands still then,
// so it is ended, and the suite runs again.
//   node scripts/windows/runSuites.ts FOLDER [SUITE|FOLDER OF SUITES…] [OPTION OF MOCHA, such as --fgrep=TITLE or --invert…]
// The sizes of random suites come from the same variables as on other systems, such as HISTORIES=2. SUITE_MINUTES ends a suite earlier.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
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
/** Milliseconds between two looks whether Wine has crashed, and the most runs of a suite. */
const BETWEEN_LOOKS = 5000;
const MOST_RUNS = 4;
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

for (const name of named.length > 0 ? named : ['test/unit', ...realSuites()]) await run(name);

function realSuites(): string[] {
  const command = globSync('test/real/**/*.test.ts').map((file) => path.resolve(file));
  const step = withoutUnix({ name: 'real', command, counts: 'results' });
  return step.command.map((file) => path.relative('.', file)).toSorted();
}

async function run(name: string): Promise<void> {
  // Suites of a folder share a process, because each start takes ten seconds.
  const suites = globSync(name.endsWith('.test.ts') ? name : `${name}/**/*.test.ts`).toSorted();
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
  for (let runs = 1, hasCrashed = true; hasCrashed && runs <= MOST_RUNS; runs += 1) {
    // A suite that was cut off leaves its servers, and Wine stands still after some.
    endWine();
    rmSync(path.join(root, reportFile), { force: true });
    hasCrashed = await inside(log, 'wine', ...node, ...mocha, ...options, ...suites);
    if (hasCrashed) console.log(`${name}: Wine crashed after ${passedIn(log)} passed`);
  }
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

/** Ends all programs of this prefix. A crash of Wine's server leaves them. */
function endWine(): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const isOurs =
        variables.includes(`WINEPREFIX=${prefix}`) &&
        readlinkSync(`/proc/${pid}/root`) === path.resolve(root);
      if (isOurs) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has just ended.
    }
}

/**
 * Runs a program in the chroot. It writes to a file, because Node under Wine can't write to a pipe from outside.
 * @returns whether Wine has crashed
 */
async function inside(log: string, ...command: readonly string[]): Promise<boolean> {
  const wine = { HOME: '/root', PATH: '/usr/bin:/bin', WINEDEBUG: '-all', WINEPREFIX: prefix };
  // Without LANG, a name such as `Jürgen` can't be a folder.
  const variables = { ...wine, LANG: 'C.UTF-8', TEST_SHARED_FOLDER: String.raw`C:\shared` };
  const sizes = SIZES.map((name) => [name, process.env[name]] as const).filter(([, value]) => value);
  const environment = [...Object.entries(variables), ...sizes].map(([name, value]) => `${name}=${value}`);
  const start = [root, 'env', '--ignore-environment', '--chdir=/root/project', ...environment];
  const output = openSync(log, 'w');
  const program = spawn('chroot', [...start, ...command], {
    stdio: ['ignore', output, output],
    timeout: SUITE_LIMIT,
    killSignal: 'SIGKILL',
  });
  const looking = setInterval(() => {
    if (hasCrashedIn(log)) program.kill('SIGKILL');
  }, BETWEEN_LOOKS);
  await once(program, 'exit');
  clearInterval(looking);
  closeSync(output);
  return hasCrashedIn(log);
}

function hasCrashedIn(log: string): boolean {
  return readFileSync(log, 'utf8').includes('wineserver crashed');
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
