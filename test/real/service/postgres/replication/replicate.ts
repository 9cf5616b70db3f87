import type pg from 'pg';
import { connectTo } from '../clients.ts';

/** Opens a connection that may run commands of replication. */
export const replicate = async (uri: string, options: object = {}): Promise<pg.Client> =>
  connectTo(uri, { replication: 'database', ...options } as object);
