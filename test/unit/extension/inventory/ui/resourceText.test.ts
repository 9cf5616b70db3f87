import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectShop } from '../../../../helpers/shopInventory.ts';

const { resourceText } = await import('../../../../../src/extension/inventory/ui/resourceText.ts');

describe('resourceText', () => {
  it('names a project, a branch or a compute with what it is in, as far as that is known', async () => {
    const shop = await connectShop();
    shop.replies.branches = [{ id: 'br-main', name: 'main', default: true }];
    const text = (ids: object) => resourceText(shop.store.inventory, { projectId: 'shop', ...ids });
    assert.equal(text({ computeId: 'ep-main' }), 'ep-main (shop)');
    assert.equal(text({ name: 'Shop' }), 'Shop');
    await shop.load();
    assert.equal(text({ branchId: 'br-main' }), 'br-main (Shop)');
    await shop.store.inventory.branches.ensureLoaded('shop');
    assert.equal(text({}), 'Shop');
    assert.equal(text({ branchId: 'br-main' }), 'main (Shop)');
    const snapshot = text({ branchId: 'br-main', snapshot: 'before' });
    assert.equal(snapshot, 'the snapshot before of main (Shop)');
    assert.equal(text({ computeId: 'ep-main' }), 'the primary of main (Shop)');
    assert.equal(text({ computeId: 'ep-read' }), 'the read replica reports of main (Shop)');
  });
});
