import assert from 'node:assert/strict';
import { whyActive } from '../../../../src/extension/computes/whyActive.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

describe('The cause of a session that runs a statement', () => {
  const compute = computeRecord('ep-one', { current_state: 'active' });
  for (const application of ['datadog-agent', 'claude', 'cron-worker', 'pg_dump'])
    it(`is no guess from the name ${application}`, () => {
      const session = { id: '1', type: 'client backend', state: 'active', state_for: 60, application };
      const sessions = [{ ...session, command: 'COPY' }];
      assert.equal(whyActive({ compute, now: Date.now(), operations: [], sessions }).cause, 'query');
    });
});
