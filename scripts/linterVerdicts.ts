// Compares what a rehearsal says of the migrations of test/real/rehearsal/cases, which the tests prove, with the warnings of squawk, which
// reads only their text: `node scripts/linterVerdicts.ts`. It is installed for it in a temporary folder. Writes docs/rehearsal-cases.md, and
// prints the counts for docs/rehearsal.md.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../test/helpers/localService.ts';
import type { MigrationCase } from '../test/real/rehearsal/cases/case.ts';
import { DANGEROUS } from '../test/real/rehearsal/cases/dangerous.ts';
import { HARMLESS } from '../test/real/rehearsal/cases/harmless.ts';

/** Rules about how a migration is written, which it breaks whether or not it is dangerous. */
const STYLE = [
  'require-timeout-settings',
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-robust-stmts',
  'prefer-text-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-timestamptz',
];

const VERSION = '2.66.0';
const TABLE = path.join(import.meta.dirname, '../docs/rehearsal-cases.md');

const root = temporaryFolder();
writeFileSync(path.join(root, 'package.json'), '{ "private": true }');
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', `squawk-cli@${VERSION}`], {
  cwd: root,
});
const statements = path.join(import.meta.dirname, '../test/real/rehearsal/cases/toolStatements.json');
const ofTools: readonly MigrationCase[] = JSON.parse(readFileSync(statements, 'utf8'));
const all: readonly MigrationCase[] = [...DANGEROUS, ...HARMLESS, ...ofTools];
const warned = all.map((each) => ({ ...each, rules: rulesFor(each) }));
for (const isDangerous of [true, false]) {
  const some = warned.filter(({ says }) => (says !== undefined) === isDangerous);
  const count = (rules: (found: readonly string[]) => readonly string[]) =>
    some.filter((each) => rules(each.rules).length > 0).length;
  const withoutStyle = count((found) => found.filter((rule) => !STYLE.includes(rule)));
  const kind = isDangerous ? 'dangerous' : 'harmless';
  console.log(
    `${kind}: ${some.length}; all rules: ${count((found) => found)}; without style: ${withoutStyle}`,
  );
}

writeFileSync(TABLE, tableOf(warned));

function tableOf(all: readonly (MigrationCase & { readonly rules: readonly string[] })[]): string {
  const rows = all.map(({ title, says, rules }) => [
    title,
    says === undefined ? 'safe' : says.join(' '),
    [...new Set(rules)]
      .filter((rule) => !STYLE.includes(rule))
      .toSorted()
      .join(', '),
  ]);
  const lines = rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return `# Migrations and verdicts

What a [rehearsal](rehearsal.md) says of each of our own migrations on the tables of \`test/real/rehearsal/seededTables.ts\`, and which rules
of squawk-cli ${VERSION} warn of its text, without those about timeouts and style. \`node scripts/linterVerdicts.ts\` writes this page.

| migration | rehearsal | squawk |
| --- | --- | --- |
${lines.join('\n')}
`;
}

function rulesFor({ sql }: MigrationCase): string[] {
  const input = sql.map((each) => `${each.replace(/;$/, '')};\n`).join('');
  const args = ['--reporter', 'json', '--pg-version', '18.0'];
  const { stdout, stderr } = spawnSync(path.join(root, 'node_modules/.bin/squawk'), args, {
    input,
    encoding: 'utf8',
  });
  try {
    return (JSON.parse(stdout) as { rule_name: string }[]).map(({ rule_name }) => rule_name);
  } catch {
    throw new Error(`squawk: ${stdout}${stderr}`);
  }
}
