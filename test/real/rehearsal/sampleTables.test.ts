/** A branch begins with tables that were made without a server, so that their ids are as low as those of Postgres's own. */
import assert from 'node:assert/strict';
import { ServiceApi } from '../../../src/npm/api.ts';
import { startLocalService } from '../../helpers/localService.ts';
import { PROJECT } from '../service/controlPlane/sampleProject.ts';
import { migrate, rehearsalsOf, verdictSentences } from './rehearsals.ts';

const MIGRATION = ['begin', 'alter table customers drop column city', 'select pg_sleep(0.1)', 'commit'];

describe('A rehearsal on the tables of the sample', () => {
  it('sees their locks and counts what is lost', async () => {
    const service = await startLocalService();
    const branches = await new ServiceApi(service.baseUrl, service.key).listBranches(PROJECT);
    const main = branches.find(({ name }) => name === 'main');
    const rehearsals = await rehearsalsOf(service, main);
    const report = await rehearsals.rehearse(async ({ url }) => migrate(url, MIGRATION));
    const { verdict, blocked } = report;
    await service.stop();
    assert.equal(verdict, 'dangerous');
    assert.deepEqual(verdictSentences(report), ['Loses 40 values of public.customers.city.']);
    assert.ok(blocked.some(({ table, blocks }) => table === 'public.customers' && blocks === 'reads'));
  });
});
