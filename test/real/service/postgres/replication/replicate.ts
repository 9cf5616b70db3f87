import { once } from 'node:events';
import type pg from 'pg';
import { connectTo } from '../clients.ts';

/** Opens a connection that may run commands of replication. */
export const replicate = async (uri: string, options: object = {}): Promise<pg.Client> =>
  connectTo(uri, { replication: 'database', ...options } as object);

export async function createSlot(uri: string, slot: string): Promise<void> {
  const client = await replicate(uri);
  await client.query(`CREATE_REPLICATION_SLOT ${slot} LOGICAL test_decoding (SNAPSHOT 'nothing')`);
  await client.end();
}

export async function dropSlot(uri: string, slot: string): Promise<void> {
  const client = await replicate(uri);
  await client.query(`DROP_REPLICATION_SLOT ${slot} WAIT`);
  await client.end();
}

/** Begins to receive changes, and confirms none. @returns what was received, which grows */
export async function receive(client: pg.Client, slot: string): Promise<{ readonly text: string }> {
  const received = { text: '' };
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('copyData', ({ chunk }: { chunk: Buffer }) => (received.text += chunk.toString('latin1')));
  const started = once(connection, 'replicationStart');
  client.query(`START_REPLICATION SLOT ${slot} LOGICAL 0/0 ("skip-empty-xacts" '1')`).catch(() => undefined);
  await started;
  return received;
}
