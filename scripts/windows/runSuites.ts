// Runs suites in the chroot of `setUp.sh`, and prints the result of each: those that are named, or all that Windows can run.
// Suites that need git or PowerShell, which Wine lacks, fail there, and times say nothing.
//   node scripts/windows/runSuites.ts FOLDER [SUITE…]
import { spawnSync } from 'node:child_process';
import { closeSync, globSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withoutUnix } from '../../test/windowsSuites.ts';

interface TestResult {
  readonly file: string;
  readonly fullTitle: string;
  readonly err: { readonly message?: string };
}
interface Report {
  readonly passes: readonly TestResult[];
  readonly pending: readonly TestResult[];
  readonly failures: readonly TestResult[];
}

/** Minutes. What takes longer hangs. */
const LIMIT = 30;
const [root = '', ...named] = process.argv.slice(2);
const clone = path.join(root, 'root/project');

/** Unit tests share a process, because each start takes ten seconds. */
const unit = named.length > 0 ? [] : globSync('test/unit/**/*.test.ts');
const real = named.length > 0 ? named : realSuites();
for (const suites of [unit, ...real.map((suite) => [suite])].filter(({ length }) => length > 0)) run(suites);

function realSuites(): string[] {
  const command = globSync('test/real/**/*.test.ts').map((file) => path.resolve(file));
  const step = withoutUnix({ name: 'real', command, counts: 'results' });
  return step.command.map((file) => path.relative('.', file)).toSorted();
}

function run(suites: readonly string[]): void {
  // A suite that was cut off leaves its servers, and Wine stands still after some.
  inside('wineserver', ['-k'], '/dev/null');
  const log = suites.length === 1 ? `${suites[0]?.replaceAll('/', '-')}.log` : 'unit.log';
  const file = path.join(clone, 'report.json');
  rmSync(file, { force: true });
  const node = ['node_modules/node/bin/node.exe', '--require', './scripts/windows/junctions.cjs'];
  const reporter = ['--reporter', 'json', '--reporter-option', 'output=report.json'];
  inside(
    'wine',
    [...node, 'node_modules/mocha/bin/mocha.js', ...reporter, ...suites],
    path.join(root, 'root', log),
  );
  const report = readReport(file);
  if (report === undefined)
    return console.log(`${suites.join(' ')}: cut off or not begun, see ${path.join(root, 'root', log)}`);
  suites.forEach((suite) => print(suite, report));
}

/** Runs a program in the chroot. It writes to a file, because Node under Wine can't write to a pipe from outside. */
function inside(program: string, args: readonly string[], log: string): void {
  const output = openSync(log, 'w');
  const environment = ['HOME=/root', 'PATH=/usr/bin:/bin', 'WINEDEBUG=-all', 'WINEPREFIX=/root/.wine'];
  const command = [
    'chroot',
    root,
    'env',
    '--ignore-environment',
    '--chdir=/root/project',
    ...environment,
    program,
    ...args,
  ];
  spawnSync('nice', ['-n', '15', ...command], {
    stdio: ['ignore', output, output],
    timeout: LIMIT * 60_000,
    killSignal: 'SIGKILL',
  });
  closeSync(output);
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // It has not ended.
  }
}

function print(suite: string, report: Report): void {
  const isOfSuite = ({ file }: TestResult) => file.replaceAll('\\', '/').endsWith(`/project/${suite}`);
  const [passes, pending, failures] = [report.passes, report.pending, report.failures].map((all) =>
    all.filter(isOfSuite),
  );
  console.log(`${suite}: ${passes?.length} passed, ${failures?.length} failed, ${pending?.length} skipped`);
  for (const { fullTitle, err } of failures ?? [])
    console.log(`    ${fullTitle}\n        ${err.message?.replaceAll('\n', '\n        ')}`);
}
