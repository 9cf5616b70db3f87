/** Publications and slots, where changes are shown, copied and taken back. */
import assert from 'node:assert/strict';
import { ServiceApi } from '../../../../../src/npm/api.ts';
import { compareDumps } from '../../../../../src/rehearsal/wayBack.ts';
import { branchCalls } from '../../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { migrate, rehearsalsOf, verdictSentences, withoutDurations } from '../../../rehearsal/rehearsals.ts';
import { eventually, query, runStatements } from '../clients.ts';
import { createSlot, receive, replicate } from './replicate.ts';

const SLOTS = 'select slot_name::text from pg_replication_slots order by 1';
const PUBLISHED = "select tablename::text from pg_publication_tables where pubname = 'changes' order by 1";

describe('A branch whose changes a program follows', () => {
  let service: LocalService;
  let uri: string;
  let project: string;

  before(async () => {
    service = await startLocalService();
    const calls = branchCalls(service);
    const settings = { enable_logical_replication: true };
    const created = await calls.change('POST', '', { project: { settings } });
    [project, uri] = [created.project.id, calls.uri(created)];
    await runStatements(
      uri,
      'create table words (id int primary key, word text)',
      'create table others (id int primary key)',
      "insert into words select n, 'word ' || n from generate_series(1, 100) n",
      'create publication changes for table words, others',
    );
  });

  /** Follows the changes, and confirms none of them. */
  const follow = async (slot: string) => {
    await createSlot(uri, slot);
    const client = await replicate(uri);
    return { client, received: await receive(client, slot) };
  };
  const api = () => new ServiceApi(service.baseUrl, service.key);

  it('is rehearsed exactly: on a copy with its publications and no slot, and the program sees nothing of it', async () => {
    const { client, received } = await follow('rehearsed');
    const [parent] = await api().listBranches(project);
    const rehearsals = await rehearsalsOf(service, parent);
    const seen: unknown[] = [];
    const report = await rehearsals.rehearse(async ({ url }) => {
      seen.push(await query(url, SLOTS), await query(url, PUBLISHED));
      return migrate(url, [
        'create table more (id int primary key)',
        'alter publication changes add table more',
        'alter table words replica identity full',
        'delete from words where id > 90',
      ]);
    });
    assert.deepEqual(seen, [[], ['others', 'words']]);
    assert.deepEqual(withoutDurations(report), ['Loses 10 rows of public.words.']);
    // A publication without a key for the update of its table is an error, as on the branch itself.
    const failing = await rehearsals.rehearse(async ({ url }) =>
      migrate(url, ['alter table words drop constraint words_pkey', "update words set word = 'x'"]),
    );
    assert.match(verdictSentences(failing).join('\n'), /replica identity/);
    assert.deepEqual(await query(uri, PUBLISHED), ['others', 'words']);
    assert.deepEqual(await query(uri, SLOTS), ['rehearsed']);
    await query(uri, 'insert into others values (1)');
    await eventually(() => received.text.includes('others'));
    assert.doesNotMatch(received.text, /DELETE|more/);
    await client.end();
  });

  it('is compared exactly: publications are a part of its schema, and slots are not', async () => {
    const [parent] = await api().listBranches(project);
    const child = await (await rehearsalsOf(service, parent)).copy();
    const original = parent ?? assert.fail('no branch');
    const diff = async () =>
      compareDumps(await api().readSchema(original, 'app'), await api().readSchema(child, 'app'));
    await createSlot(child.url, 'of_child');
    assert.deepEqual(await diff(), { forgotten: [], left: [] });
    await runStatements(
      child.url,
      'alter publication changes drop table others',
      'alter table words replica identity full',
    );
    assert.deepEqual(await diff(), {
      forgotten: ['ALTER PUBLICATION changes ADD TABLE ONLY public.others;'],
      left: ['ALTER TABLE ONLY public.words REPLICA IDENTITY FULL;'],
    });
  });
});
