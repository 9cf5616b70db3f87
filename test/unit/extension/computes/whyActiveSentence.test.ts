import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { whyActiveSentence } from '../../../../src/extension/computes/whyActiveSentence.ts';
import { ENGLISH } from '../../../../src/base/translator.ts';
import { connectModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService } from '../../../helpers/scriptedService.ts';

describe('Why a compute of an account is active', () => {
  const branch = 'GET /projects/shop/branches/br-main';

  for (const [what, databases, asked] of [
    ['database', [], []],
    ['password', [{ name: 'app', owner_name: 'me' }], ['GET /projects/shop/connection_uri']],
  ] as const)
    it(`is told by its operations alone without a ${what}`, async () => {
      const service = await scriptService((call) => {
        if (call.endsWith('/databases')) return { databases };
        if (call.endsWith('/roles')) return { roles: [{ name: 'me' }] };
        if (call.endsWith('/operations')) return { operations: [] };
        return call.endsWith('/connection_uri') ? 404 : { projects: [] };
      });
      const { session } = await connectModel(service);
      const { connection } = session;
      assert(connection);
      service.requests.length = 0;
      const compute = computeRecord('ep-main', { last_active: new Date().toISOString() });
      const sentence = await whyActiveSentence(connection, compute, ENGLISH, { asksPostgres: true });
      assert.match(sentence ?? '', /^Active/);
      const [operations, ...login] = service.requests;
      assert.equal(operations, 'GET /projects/shop/operations');
      assert.deepEqual(login.toSorted(), [`${branch}/databases`, `${branch}/roles`, ...asked].toSorted());
    });
});
