import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { packedClusterFile } from '../../../../../src/service/postgres/server/programs.ts';
import {
  COMPLETION_STATEMENTS,
  unpackCluster,
  type ClusterIndex,
} from '../../../../../src/service/postgres/template/packedCluster.ts';
import { clusterArguments } from '../../../../../src/service/postgres/template/clusterTemplate.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';
import { copyOfPostgres } from '../copyOfPostgres.ts';
import { serviceAccount, usualPostgres } from '../usualPostgres.ts';

/** They differ from cluster to cluster: statistics, and how far rows are frozen. */
const CHANGING = ['relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'relfrozenxid', 'datfrozenxid'];

/** Collations get the next free ids. */
const ROWS: Readonly<Record<string, string>> = {
  pg_collation:
    "select to_jsonb(t) - 'oid' || jsonb_build_object('comment', obj_description(oid, 'pg_collation')) from pg_collation t",
  pg_description: "select to_jsonb(t) from pg_description t where classoid <> 'pg_collation'::regclass",
  pg_statistic:
    "select to_jsonb(t) from pg_statistic t where starelid not in ('pg_collation'::regclass, 'pg_description'::regclass)",
};

/** The id of a cluster is the time at which initdb made it. It is at the start of its control file. */
const idOf = (dataDir: string) => readFileSync(path.join(dataDir, 'global/pg_control')).readBigUInt64LE(0);

describe('the packed cluster', () => {
  const folder = temporaryFolder();
  const [account, binaries] = [serviceAccount(), usualPostgres()];
  const cluster = packedClusterFile(binaries.folder);
  if (cluster === undefined) assert.fail('It is missing');

  const run = (program: string, args: readonly string[], input = '') =>
    execFileSync(program, args, {
      ...account,
      cwd: folder,
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    });
  const single = (dataDir: string, database: string, statements: readonly string[]) =>
    run(
      binaries.postgres,
      ['--single', '-D', dataDir, '-c', 'exit_on_error=on', '-c', 'fsync=off', database],
      statements.map((statement) => `${statement};\n`).join(''),
    );
  const valuesIn = (output: string) =>
    [...output.matchAll(/ = "([^]*?)"\t\(typeid/g)].map(([, value = '']) => value);

  /** Returns the cluster with another version of the catalogs in its control file. */
  function ofAnotherBuild(): Buffer {
    const bytes = brotliDecompressSync(readFileSync(cluster ?? ''));
    const contents = bytes.indexOf('\n') + 1;
    const { files }: ClusterIndex = JSON.parse(bytes.toString('utf8', 0, contents));
    const before = files.slice(
      0,
      files.findIndex(([name]) => name === 'global/pg_control'),
    );
    const control = before.reduce((sum, [, size]) => sum + size, contents);
    bytes.writeUInt32LE(bytes.readUInt32LE(control + 12) + 1, control + 12);
    return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  }

  /** Left out are what a server writes while it runs, maps (see clusterTemplate.ts), and the service's configuration. */
  const filesIn = (dataDir: string) =>
    readdirSync(dataDir, { encoding: 'utf8', recursive: true })
      .filter(
        (name) =>
          !/_fsm$|_vm$|pg_internal\.init$|^pg_wal.|^pg_stat.|^(?:postgresql|pg_hba)\.conf$/.test(name),
      )
      .toSorted();

  before(function () {
    // Without a server, Postgres doesn't run for administrators, who therefore get their template from initdb.
    if (process.platform === 'win32' && spawnSync('net', ['session']).status === 0) this.skip();
    if (account !== undefined) chownSync(folder, account.uid, account.gid);
  });

  it('has every file and row that initdb creates on this machine, in each database', () => {
    const [made, unpacked] = [path.join(folder, 'made'), path.join(folder, 'unpacked')];
    run(binaries.initdb, ['-D', made, ...clusterArguments(binaries.major), '--auth=trust']);
    unpackCluster(cluster, unpacked);
    writeFileSync(path.join(unpacked, 'postgresql.conf'), '');
    if (account !== undefined)
      for (const name of ['.', ...readdirSync(unpacked, { encoding: 'utf8', recursive: true })])
        chownSync(path.join(unpacked, name), account.uid, account.gid);
    single(unpacked, 'template1', COMPLETION_STATEMENTS);
    assert.deepEqual(filesIn(unpacked), filesIn(made));
    const namesSql = "select relnamespace::regnamespace || '.' || relname from pg_class where relkind = 'r'";
    const tables = valuesIn(single(made, 'template1', [namesSql]));
    assert.ok(tables.length > 60, String(tables.length));
    const statements = tables.map((table) => {
      const rows =
        ROWS[table.replace('pg_catalog.', '')] ??
        `select to_jsonb(t) - '{${CHANGING.join()}}'::text[] from ${table} t`;
      return `select concat('${table}: ', string_agg(row::text, chr(10) order by row::text)) from (${rows}) as rows (row)`;
    });
    for (const database of ['template0', 'template1', 'postgres']) {
      const [expected, actual] = [made, unpacked].map((dataDir) => single(dataDir, database, statements));
      assert.equal(valuesIn(expected ?? '').length, tables.length);
      assert.deepEqual(
        actual?.split('\n'),
        expected?.split('\n'),
        `${database}: see scripts/package/packCluster.ts`,
      );
    }
  });

  it('has no password', () => {
    assert.doesNotMatch(
      brotliDecompressSync(readFileSync(cluster)).toString('latin1'),
      /SCRAM-SHA-256\$|md5[0-9a-f]{32}/,
    );
  });

  it('differs only where initdb gives each cluster another answer to logins as roles that do not exist', () => {
    const [first, second] = ['first', 'second'].map((name) => {
      const unpacked = path.join(temporaryFolder(), name);
      unpackCluster(cluster, unpacked);
      return unpacked;
    });
    const control = (dataDir = '') => readFileSync(path.join(dataDir, 'global/pg_control'));
    const positions = (a: Buffer, b: Buffer) => [...a.keys()].filter((index) => a[index] !== b[index]);
    const differing = positions(control(first), control(second));
    const nonceAndSum = (index: number) => (index >= 257 && index < 289) || (index >= 292 && index < 296);
    assert.deepEqual(
      differing.filter((index) => !nonceAndSum(index)),
      [],
    );
    assert(differing.filter((index) => index < 289).length > 16);
    // The same bytes differ between two clusters of initdb, apart from the id and the times.
    const made = ['a', 'b'].map((name) => {
      const dataDir = path.join(folder, name);
      run(binaries.initdb, ['-D', dataDir, ...clusterArguments(binaries.major), '--auth=trust']);
      return dataDir;
    });
    const late = positions(control(made[0]), control(made[1])).filter((index) => index > 200);
    assert(late.length > 16 && late.every(nonceAndSum), late.join());
  });

  it('is the template of branches', async () => {
    const service = await startControlPlane({ createsTemplate: true });
    const uri = await service.uri(await service.create());
    assert.deepEqual(
      await query(uri, "select 'ä' < 'b' collate \"de-x-icu\" from pg_database where datname = 'template0'"),
      [true],
    );
    const unpacked = path.join(temporaryFolder(), 'data');
    unpackCluster(cluster, unpacked);
    assert.equal(idOf(path.join(service.dataDir, 'postgres/template-18')), idOf(unpacked));
  });

  const unfit = { damaged: () => Buffer.from('damaged'), 'of another build of Postgres': ofAnotherBuild };
  for (const [title, content] of Object.entries(unfit))
    it(`is not needed: if it is ${title}, initdb creates the template`, async function () {
      if (process.platform === 'win32') this.skip(); // The copy has links.
      const { root, folder: bin } = copyOfPostgres();
      writeFileSync(path.join(root, path.basename(cluster)), content());
      const service = await startControlPlane({ postgresPath: bin });
      assert.deepEqual(await query(await service.uri(await service.create()), 'select 1'), [1]);
    });
});
