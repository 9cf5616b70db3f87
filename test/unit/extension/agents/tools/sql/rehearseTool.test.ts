import '../../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { callTool } from '../../../../../helpers/callTool.ts';
import { connectScripted } from '../../../../../helpers/connectedModel.ts';
import { toolDependencies } from '../../../../../helpers/toolDependencies.ts';

/** What it does on the local service is in `test/real/mcp/rehearse.test.ts`. */
describe('The tool rehearse', () => {
  it('creates nothing in an account, where statements cannot be seen, and says what to do instead', async () => {
    const model = await connectScripted(() => ({}));
    Object.defineProperty(model.session.connection, 'isLocal', { value: false });
    const before = model.service.requests.length;
    const call = callTool(
      toolDependencies(model),
      'rehearse',
      { projectId: 'shop', branchId: 'br-main', sql: 'drop table t' },
      { agent: 'claude', folder: undefined, signal: new AbortController().signal },
    );
    await assert.rejects(
      call,
      /^Error: Only the local service can rehearse\. Create a branch with createBranch/,
    );
    assert.equal(model.service.requests.length, before);
  });
});
