/** A branch begins with tables that were made without a server, so that their ids are as low as those of Postgres's own. */
import assert from 'node:assert/strict';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import { Api, type Branch } from '../../../src/npm/api.ts';
import { rehearse } from '../../../src/rehearsal/rehearse.ts';
import { startLocalService } from '../../helpers/localService.ts';
import { PROJECT } from '../service/controlPlane/sampleProject.ts';
import { migrate } from './rehearsals.ts';

type Copy = Branch & { readonly url: string };

describe('A rehearsal on the tables of the sample', () => {
  it('sees their locks and counts what is lost', async () => {
    const service = await startLocalService();
    const api = new Api(service.baseUrl, service.key);
    const parent = (await api.branches(PROJECT)).find(({ name }) => name === 'main');
    let copies = 0;
    const copyBranch = async () => {
      const name = `copy-${(copies += 1)}`;
      const made = { name, parent: parent?.id, maker: ownIdentity(), lifetime: 3_600_000 };
      return (await api.createBranch(PROJECT, made)) ?? assert.fail(`there is a branch ${name}`);
    };
    const rehearser = {
      copyBranch,
      startRehearsal: async (copy: Copy) => api.startRehearsal(copy),
      rehearsal: async (copy: Copy) => api.rehearsal(copy),
      schemaDiff: async (copy: Copy, database: string) => api.schemaDiff(copy, database),
      delete: async (copy: Copy) => api.delete(copy),
    };
    const run = async ({ url }: Copy) =>
      migrate(url, ['begin', 'alter table customers drop column city', 'select pg_sleep(0.1)', 'commit']);
    const { verdict, sentences } = await rehearse<Copy>(rehearser, { run }, { longestLock: 50 });
    await service.stop();
    assert.equal(verdict, 'dangerous');
    assert.equal(sentences[0], 'Loses 40 values of public.customers.city.');
    assert.match(String(sentences[1]), /^Blocks all reads and writes of public\.customers for \d/);
  });
});
