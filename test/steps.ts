// The steps of `npm test`. Those of one stage run at the same time; a stage starts when the one before ended.
const node = process.execPath;
const script = [node, '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];
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
    command: [node, 'node_modules/prettier/bin/prettier.cjs', '--check', '.'],
    counts: 'one',
  },
  { name: 'types', command: [node, 'node_modules/typescript/bin/tsc', '--noEmit'], counts: 'one' },
];
const unit: Step = { name: 'unit', command: [...mocha, 'test/unit/**/*.test.ts'], counts: 'results' };
const service: Step = {
  name: 'service',
  command: [...mocha, '--parallel', '--jobs', '2', 'test/service/**/*.test.ts'],
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
const build: Step = { name: 'build', command: [node, 'esbuild.mjs', '--tests'], counts: 'nothing' };
const inside: Step = {
  name: 'inside VS Code',
  command: [...script, 'test/host/inside.ts'],
  counts: 'results',
};
// A page on a busy machine now and then loses a click or a key; what is really broken fails every time.
const ui: Step = {
  name: 'through the UI',
  command: [...mocha, '--timeout', '60000', '--retries', '2', 'test/host/ui/**/*.test.ts'],
  counts: 'results',
};

const host: readonly (readonly Step[])[] = [[build], [inside], [ui]];

/** The stages of a run, by its name: everything, or the suites in VS Code alone. */
export const plans = {
  all: [[install, ...checks], [unit], [service, trust], ...host],
  host,
} satisfies Record<string, readonly (readonly Step[])[]>;
