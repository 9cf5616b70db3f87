import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectModel } from '../../../../helpers/connectedModel.ts';
import { scriptService } from '../../../../helpers/scriptedService.ts';

const { approvalRequest } = await import('../../../../../src/extension/agents/ui/approveForAgent.ts');

describe('The question about a change of an agent', () => {
  it('says which replication slots end, if there are any', async () => {
    const { inventory } = await connectModel(await scriptService(() => 404));
    const target = { projectId: 'shop', branchId: 'br-dev', name: 'dev', agent: 'claude' };
    for (const change of [
      { ...target, kind: 'reset', parent: 'main' },
      { ...target, kind: 'undo', to: 'noon', preserved: 'before-noon' },
    ] as const) {
      const textWith = (...slots: string[]) =>
        String(approvalRequest(inventory, { ...change, slots }).detail);
      assert.match(
        textWith('zero_0', 'sync'),
        /\. These replication slots are lost: zero_0, sync\. Programs/,
      );
      assert.doesNotMatch(textWith(), /slots|undefined| $/);
    }
  });
});
