/** What is said of a branch whose server is suspended just then. */
import { keepHistory } from '../keepHistory.ts';
import { query } from '../clients.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-suspended';

describe('A server that is suspended just then', () => {
  const branch = useBranch({ branchId: ID });

  const file = { database: 5, table: 20_000, file: 20_000 };
  const moment = { branchId: ID, timestamp: new Date().toISOString() };
  for (const [name, ask] of [
    ['its sessions', async () => branch.service.engine.activity(branch.compute.id)],
    ['the changes since a moment', async () => branch.service.engine.changesSince(ID, [moment])],
    ['the changes of the schema', async () => branch.service.engine.schemaChanges(ID)],
    ['the transactions of a table', async () => branch.service.engine.tableTransactions(ID, file)],
  ] as const)
    it(`need not say ${name}`, async () => {
      await query(branch.uri, 'select 1');
      await keepHistory(branch.service, ID);
      await Promise.all([ask(), branch.service.engine.suspend(branch.compute.id)]);
    });
});
