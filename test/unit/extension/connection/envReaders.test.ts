/** What programs read from an env file before and after a change of its URL. Each has other rules. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import dotenv from 'dotenv';
import fc from '../../../helpers/fastCheck.ts';
import { tlsParameters } from '../../../../src/api/addresses/databaseUrl.ts';
import { applyReplacement, getVariable, changeOfVariable } from '../../../../src/extension/envFile/dotEnv.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

type Variables = Readonly<Record<string, string | undefined>>;
type Reader = (file: string) => Variables | undefined;

/**
 * The rules of `docker run --env-file` (`pkg/kvfile/kvfile.go` of docker/cli): the line up to its end is the value, only a `#`
 * at the start is a comment, and a name with a space is an error.
 */
function readLikeDocker(file: string): Variables | undefined {
  const variables: Record<string, string> = {};
  for (const line of file.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [name = '', ...rest] = line.trimStart().split('=');
    if (name === '' || name.startsWith('#')) continue;
    if (/\s/.test(name)) return undefined;
    if (rest.length > 0) variables[name] = rest.join('=');
  }
  return variables;
}

const readers: Readonly<Record<string, Reader>> = {
  dotenv: (file) => dotenv.parse(file),
  'node --env-file': (file) => parseEnv(file),
  'docker --env-file': readLikeDocker,
};

/** Each value of a URL, as the file has it. */
interface Login {
  readonly role: string;
  readonly password: string;
  readonly host: string;
  readonly database: string;
}
const urlOf = ({ role, password, host, database }: Login, rest = '', scheme = 'postgresql') =>
  `${scheme}://${role}:${password}@${host}/${database}${rest}`;

const login = fc.record({
  role: fc.constantFrom('me', 'app%20owner'),
  password: fc.stringMatching(/^(?:[\w.~-]|%[2-7][0-9A-F]){1,12}$/),
  host: fc.constantFrom('ep-a-1.example.com', 'ep-b-2-pooler.example.com', 'ep-c.example.com:6543'),
  database: fc.constantFrom('shop', 'a%2Fb'),
});
const other = fc.constantFrom('A=1', '# note', '', 'B="two words"', "export C='x'", 'E=', 'DATABASE_URL_2=x');
const files = fc
  .record({
    before: login,
    after: login,
    scheme: fc.constantFrom('postgresql', 'postgres', 'POSTGRES', 'ecto', 'postgis', 'postgresql+psycopg'),
    rest: fc.constantFrom(
      '',
      '?sslmode=require',
      '?sslmode=require&channel_binding=require&schema=a%26b',
      '#main',
    ),
    // The form: what is before the value, after it in its quotes, and after the quotes.
    name: fc.constantFrom('', 'export ', '  ', 'export  '),
    sign: fc.constantFrom('=', '=', '=', ' = ', ': ', '=\u00a0'),
    quote: fc.constantFrom('', '', '"', "'", '`'),
    escape: fc.constantFrom('', '', '\\n', ' '),
    comment: fc.constantFrom('', '', ' # why', '  ', '\t#"'),
    eol: fc.constantFrom('\n', '\r\n'),
    above: fc.array(other, { maxLength: 3 }),
    below: fc.array(other, { maxLength: 3 }),
    start: fc.constantFrom('', '', '\ufeff'),
  })
  .map(({ before, after, scheme, rest, name, sign, quote, escape, comment, eol, above, below, start }) => {
    const inner = quote === '"' ? escape : '';
    const fileWith = (value: Login) => {
      const line = `${name}DATABASE_URL${sign}${quote}${urlOf(value, rest, scheme)}${inner}${quote}${comment}`;
      return start + [...above, line, ...below, ''].join(eol);
    };
    return { before, after, rest, scheme, eol, file: fileWith(before), expected: fileWith(after) };
  });

const set = (file: string, value: string) =>
  applyReplacement(file, (text) => changeOfVariable(text, 'DATABASE_URL', value));

describe('A URL that is changed in an env file', () => {
  /** Each is written once more, so a failure names the file. */
  const samples = fc.sample(files, 300);

  it('changes byte for byte nothing but its login, host and database', () => {
    for (const { file, after, rest, expected } of samples) {
      // Parameters of the new URL don't replace those of the file, except those for TLS.
      const url = urlOf(after, `?${[...tlsParameters(rest), 'application_name=x'].join('&')}`);
      assert.equal(set(file, url), expected, file);
      assert.equal(changeOfVariable(file, 'DATABASE_URL', url).isRequoted, false, file);
      assert.equal(set(expected, url), expected);
    }
  });

  for (const [name, read] of Object.entries(readers))
    it(`is read by ${name} as before, with the new login, host and database`, () => {
      let count = 0;
      for (const { file, before, after, expected } of samples) {
        const old = read(file);
        const value = old?.['DATABASE_URL'];
        if (value?.includes(urlOf(before, '', '')) !== true) continue;
        count += 1;
        const wanted = value.replace(urlOf(before, '', ''), () => urlOf(after, '', ''));
        assert.deepEqual({ ...read(expected) }, { ...old, DATABASE_URL: wanted }, file);
        assert.ok(getVariable(file, 'DATABASE_URL')?.includes(urlOf(before, '', '')), file);
      }
      assert.ok(count > 20, `${count} files that it can read`);
    });

  it('is read by a shell as before, with the new login, host and database', function () {
    if (process.platform === 'win32') return this.skip(); // It has no sh.
    // A shell has no spaces around `=`, and its lines end with a line feed only.
    const readable = samples.filter(({ eol, file }) => eol === '\n' && !file.startsWith('\ufeff'));
    const values = readInShell(readable.flatMap(({ file, expected }) => [file, expected]));
    let count = 0;
    for (const [index, { file, before, after }] of readable.entries()) {
      const [old = '', changed] = values.slice(2 * index);
      if (!old.includes(urlOf(before, '', ''))) continue;
      count += 1;
      assert.equal(
        changed,
        old.replace(urlOf(before, '', ''), () => urlOf(after, '', '')),
        file,
      );
    }
    assert.ok(count > 20, `${count} files that it can read`);
  });
});

/** The value of the variable in each file, by `set -a; . file`. */
function readInShell(files: readonly string[]): readonly string[] {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  for (const [index, file] of files.entries()) writeFileSync(path.join(folder, `${index}.env`), file);
  const script = `i=0
while [ "$i" -lt ${files.length} ]; do
  (set -a; . "./$i.env" >&2; printf '%s' "$DATABASE_URL")
  printf '\\0'
  i=$((i + 1))
done 2>/dev/null`;
  const env = { PATH: '/nonexistent' };
  return execFileSync('/bin/sh', ['-c', script], { cwd: folder, env, encoding: 'utf8' }).split('\0');
}
