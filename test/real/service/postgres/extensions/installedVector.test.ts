/**
 * The real `vector`, of another Postgres 18 on this machine or of an unpacked package in the folder that TEST_EXTENSIONS names.
 */
import assert from 'node:assert/strict';
import { findMoreExtensions } from '../../../../../src/service/postgres/extensions/moreExtensions.ts';
import { chooseBinaries, findPrograms } from '../../../../../src/service/postgres/server/programs.ts';
import { branchCalls, emptyAccount, type Api, type Created } from '../../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { query } from '../clients.ts';

const extensionsDir = process.env['TEST_EXTENSIONS'];

const binaries = chooseBinaries(findPrograms(undefined));
const found =
  typeof binaries === 'string'
    ? []
    : findMoreExtensions({ extensionsDir, installedExtensions: true }, binaries);
const hasVector = found.some(({ names }) => names.includes('vector'));
// Where it was put for this test, it must not be skipped.
const why =
  hasVector || extensionsDir !== undefined ? '' : ' (skipped: needs another Postgres 18 with pgvector)';

describe(`vector of another Postgres${why}`, () => {
  let service: LocalService;
  let api: Api;
  let main: Created;
  let uri: string;
  before(async function () {
    if (why !== '') return this.skip();
    assert.ok(hasVector, found[0]?.problem);
    const args =
      extensionsDir === undefined ? ['--installed-extensions'] : ['--extensions-dir', extensionsDir];
    service = await startLocalService({ args: [...emptyAccount(), ...args] });
    api = branchCalls(service);
    main = await api.change('POST', '', { project: { name: 'vectors' } });
    uri = api.uri(main);
  });

  it('is created by the owner, and its index used', async () => {
    await query(uri, 'create extension vector');
    await query(uri, 'create table items (id int primary key, place vector(3))');
    await query(
      uri,
      `insert into items select i, array[i, i, i]::real[]::vector from generate_series(1, 2000) as s (i)`,
    );
    await query(uri, 'create index places on items using hnsw (place vector_l2_ops)');
    const nearest = "select id from items order by place <-> '[7,7,7]' limit 1";
    assert.deepEqual(await query(uri, nearest), [7]);
    assert.match(String(await query(uri, `explain ${nearest}`)), /Index Scan using places/);
    await query(uri, 'alter extension vector update');
  });

  for (const [init, count] of [
    ['parent-data', 2000],
    ['schema-only', 0],
  ] as const)
    it(`is in a branch with ${init}`, async () => {
      const branch = { name: init, ...(init === 'schema-only' && { init_source: init }) };
      const created = await api.createBranch(main.project.id, branch);
      const copy = api.uri(created);
      assert.deepEqual(await query(copy, 'select count(*)::int from items'), [count]);
      const distance = "insert into items values (-1, '[1,2,3]') returning place <-> '[1,2,5]'";
      assert.deepEqual(await query(copy, distance), [2]);
      assert.match(String(await query(copy, "select pg_get_indexdef('places'::regclass)")), /using hnsw/i);
    });
});
