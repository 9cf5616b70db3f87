import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseEnv, promisify } from 'node:util';
import pg from 'pg';
import { findProgram } from '../../../../src/base/programs/findProgram.ts';
import {
  CONNECTION_FORMATS,
  formatConnection,
  type ConnectionFormat,
  type FormatParts,
} from '../../../../src/extension/connection/connectionFormats.ts';
import { passFileLine, serviceLines, setService } from '../../../../src/extension/connection/serviceFile.ts';
import { projectRoot } from '../../../workbench/folders.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';
import { recordLogins, type LoginRecorder, type RecordedLogin } from '../../../helpers/loginRecorder.ts';

const run = promisify(execFile);

/** Names and passwords that some format has to escape. */
const NASTY = [
  'plain',
  "it's",
  'two words',
  'a"b',
  'back\\slash',
  'p@ss/w:rd%?#[]',
  '$HOME `id` $(id)',
  '%PATH% !x; & | <>',
  'semi;colon=equals,',
  "'",
  '{}~^*()',
  'Größe-密碼-🔑',
  '%41+%2B',
];

const partsOf = (host: string, each: string): FormatParts & { readonly password: string } => ({
  host,
  role: `role ${each}`,
  database: `db ${each}`,
  password: each,
  hosts: { direct: host, pooled: undefined },
});

describe('formatConnection', () => {
  const host = 'ep-a-1.eu.example.com';
  const plain: FormatParts = { ...partsOf(host, 'x'), role: 'me', database: 'app', password: 'secret' };
  const texts: Readonly<Record<ConnectionFormat, string>> = {
    url: `postgresql://me:secret@${host}/app?sslmode=require`,
    psql: `psql "postgresql://me:secret@${host}/app?sslmode=require"`,
    libpq: `host=${host} port=5432 dbname=app user=me password=secret sslmode=require`,
    jdbc: `jdbc:postgresql://${host}/app?user=me&password=secret&sslmode=require`,
    dotnet: `Host=${host};Port=5432;Database=app;Username=me;Password=secret;SSL Mode=Require`,
    go: `sql.Open("pgx", "postgresql://me:secret@${host}/app?sslmode=require")`,
    python: `create_engine(URL.create("postgresql+psycopg", username="me", password="secret", host="${host}", port=5432, database="app", query={"sslmode": "require"}))`,
    serverless: `neon("postgresql://me:secret@${host}/app?sslmode=require")`,
    env: `DATABASE_URL=postgresql://me:secret@${host}/app?sslmode=require\n`,
    docker: `-e DATABASE_URL="postgresql://me:secret@${host}/app?sslmode=require"`,
  };
  /** How each format asks for channel binding; pgx does not in every version. */
  const bindings: Readonly<Record<ConnectionFormat, string>> = {
    url: '?sslmode=require&channel_binding=require',
    psql: '&channel_binding=require"',
    libpq: 'sslmode=require channel_binding=require',
    jdbc: '&channelBinding=require',
    dotnet: ';Channel Binding=Require',
    go: '/app?sslmode=require")',
    python: 'query={"sslmode": "require", "channel_binding": "require"}',
    serverless: '&channel_binding=require")',
    env: '&channel_binding=require',
    docker: '&channel_binding=require"',
  };
  for (const format of CONNECTION_FORMATS) {
    it(`writes ${format}`, () => assert.equal(formatConnection(format, plain), texts[format]));

    it(`keeps the channel binding that the service asks for in ${format}`, () => {
      const text = formatConnection(format, { ...plain, channelBinding: true });
      assert.ok(text.includes(bindings[format]), text);
    });

    it(`writes ${format} without a password`, () => {
      const text = formatConnection(format, { ...plain, password: undefined });
      assert.doesNotMatch(text, /secret|password/i);
      assert.match(text, /\bme\b/);
    });
  }

  it('names the pooled and the direct host in the variables', () => {
    const hosts = { direct: host, pooled: 'ep-a-1-pooler.eu.example.com' };
    assert.equal(
      formatConnection('env', { ...plain, hosts }),
      `DATABASE_URL=postgresql://me:secret@${hosts.pooled}/app?sslmode=require\n` +
        `DATABASE_URL_UNPOOLED=postgresql://me:secret@${host}/app?sslmode=require\n`,
    );
  });

  it('lets a container reach a compute of this machine, without TLS', async () => {
    const local = { ...plain, host: '127.0.0.1:15432' };
    for (const [platform, options] of [
      ['linux', '--network host -e DATABASE_URL="postgresql://me:secret@127.0.0.1:15432/app"'],
      ['darwin', '-e DATABASE_URL="postgresql://me:secret@host.docker.internal:15432/app?sslmode=require"'],
    ] as const)
      await onPlatform(platform, () => assert.equal(formatConnection('docker', local), options));
    assert.match(formatConnection('dotnet', local), /^Host=127\.0\.0\.1;Port=15432;[^T]+$/);
  });

  it('configures the serverless driver for a compute of this machine, with the lines of the snippet', () => {
    const { body } = Object.values(readSnippets())[0] ?? { body: [] };
    const lines = body
      .map((line) => `${line.replaceAll('\\$', '$').replace('${1:5432}', '15432')}\n`)
      .join('');
    assert.equal(
      formatConnection('serverless', { ...plain, host: '127.0.0.1:15432' }),
      `${lines}neon("postgresql://me:secret@127.0.0.1:15432/app")`,
    );
  });

  it('keeps the TLS mode that the service asks for', () => {
    const strict = { ...plain, sslMode: 'verify-full' } as const;
    for (const format of CONNECTION_FORMATS)
      assert.match(formatConnection(format, strict), /verify-full|VerifyFull/, format);
  });

  for (const name of ['.', '..'])
    it(`names a database called ${name} for JDBC`, () => {
      const text = formatConnection('jdbc', { ...plain, database: name });
      assert.ok(text.startsWith(`jdbc:postgresql://${host}/${name}?`), text);
    });

  it('writes an IPv6 address with and without brackets, as each format wants it', () => {
    const local = { ...plain, host: '[::1]:15432' };
    assert.match(formatConnection('url', local), /@\[::1\]:15432\/app$/);
    assert.match(formatConnection('libpq', local), /^host=::1 port=15432 /);
  });

  for (const each of NASTY) {
    const parts = partsOf(host, each);
    const expected = { role: parts.role, database: parts.database, password: each };

    it(`escapes ${each} for JDBC, .NET, Go, Python and the serverless driver`, () => {
      assert.deepEqual(readJdbc(formatConnection('jdbc', parts)), expected);
      assert.deepEqual(readDotnet(formatConnection('dotnet', parts)), expected);
      assert.deepEqual(readUrl(JSON.parse(quotedIn(formatConnection('go', parts)))), expected);
      assert.deepEqual(readUrl(JSON.parse(quotedIn(formatConnection('serverless', parts)))), expected);
      assert.deepEqual(readPython(formatConnection('python', parts)), expected);
    });

    it(`escapes ${each} for .env files and docker`, () => {
      assert.deepEqual(readUrl(parseEnv(formatConnection('env', parts))['DATABASE_URL'] ?? ''), expected);
      assert.deepEqual(readUrl(JSON.parse(quotedIn(formatConnection('docker', parts)))), expected);
    });
  }
});

describe('a formatted connection', () => {
  let server: LoginRecorder;
  const folder = temporaryFolder();
  const hasPsql = findProgram('psql') !== undefined;
  const recorded = async (client: () => Promise<unknown>): Promise<RecordedLogin | undefined> => {
    server.logins.length = 0;
    await assert.rejects(client());
    return server.logins[0];
  };
  const psql = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    run('psql', ['--no-password', ...args], {
      env: { PATH: process.env['PATH'], PGPASSFILE: folder, ...env },
    });

  before(async () => (server = await recordLogins()));

  for (const each of NASTY) {
    const expected = { role: `role ${each}`, database: `db ${each}`, password: each };

    it(`is what pg reads: ${each}`, async () => {
      // Pg leaves some characters of a database encoded, such as %3B.
      const parts = partsOf(server.host, each);
      const connect = () => new pg.Client({ connectionString: formatConnection('url', parts) }).connect();
      const { role, password } = (await recorded(connect)) ?? {};
      assert.deepEqual({ role, password }, { role: expected.role, password: each });
    });

    it(`is what psql reads: ${each}`, async function () {
      if (!hasPsql) this.skip();
      const parts = partsOf(server.host, each);
      for (const format of ['url', 'libpq'] as const)
        assert.deepEqual(await recorded(() => psql([formatConnection(format, parts)])), expected, format);
      const command = formatConnection('psql', parts);
      assert.deepEqual(await recorded(() => run('sh', ['-c', command])), expected, command);
    });

    it(`is what psql reads from a service and a password file: ${each}`, async function () {
      if (!hasPsql) this.skip();
      const parts = partsOf(server.host, each);
      const [services, passwords] = [path.join(folder, 'services'), path.join(folder, 'passwords')];
      writeFileSync(services, setService('', 'shop', serviceLines(parts)).text);
      writeFileSync(passwords, passFileLine(parts), { mode: 0o600 });
      const env = { PGSERVICEFILE: services, PGPASSFILE: passwords };
      assert.deepEqual(await recorded(() => psql(['service=shop'], env)), expected);
    });
  }
});

const readSnippets = (): Record<string, { readonly body: readonly string[] }> =>
  JSON.parse(readFileSync(path.join(projectRoot, 'media', 'snippets.json'), 'utf8'));

const quotedIn = (text: string): string => /"postgresql:.*"/.exec(text)?.[0] ?? '';

function readUrl(text: string): unknown {
  const { username, pathname, password } = new URL(text);
  const [role, database] = [username, pathname.slice(1)].map(decodeURIComponent);
  return { role, database, password: decodeURIComponent(password) };
}

/** As the driver does: the path and the values of the query are decoded as those of a form. */
function readJdbc(text: string): unknown {
  const [, database = '', query] = /^jdbc:postgresql:\/\/[^/]+\/([^?]*)\?(.*)$/.exec(text) ?? [];
  const values = new URLSearchParams(query);
  const [[, decoded] = []] = [...new URLSearchParams(`x=${database}`)];
  return { role: values.get('user'), database: decoded, password: values.get('password') };
}

function readDotnet(text: string): unknown {
  const entry = /([\w ]+)=(?:"((?:[^"]|"")*)"|([^;"]*))(?:;|$)/y;
  const values = new Map<string, string>();
  for (let match = entry.exec(text); match !== null; match = entry.exec(text))
    values.set(match[1] ?? '', match[2]?.replaceAll('""', '"') ?? match[3] ?? '');
  return {
    role: values.get('Username'),
    database: values.get('Database'),
    password: values.get('Password'),
  };
}

function readPython(text: string): unknown {
  const value = (name: string): unknown =>
    JSON.parse(new RegExp(`\\b${name}=("(?:[^"\\\\]|\\\\.)*")`).exec(text)?.[1] ?? '""');
  return { role: value('username'), database: value('database'), password: value('password') };
}
