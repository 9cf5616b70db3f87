/** The local service that the extension has started, found by the file it writes, like a second window does. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BaseUrl } from '../../../src/api/transport/baseUrl.ts';
import { isAlive } from '../../../src/base/programs/isAlive.ts';
import { until } from '../../workbench/until.ts';

export interface OwnService {
  readonly baseUrl: BaseUrl;
  readonly pid: number;
}

export const ownServiceFolder = (dataFolder: string): string =>
  path.join(dataFolder, 'data/User/globalStorage/hosted-postgres.hosted-postgres/local-service');

/** Returns the service that wrote the file last. It may have ended. */
export const readOwnService = async (dataFolder: string): Promise<OwnService> =>
  JSON.parse(await readFile(path.join(ownServiceFolder(dataFolder), 'service.json'), 'utf8'));

/** Waits until a service is running. */
export const findOwnService = (dataFolder: string): Promise<OwnService> =>
  until('the extension to run a local service', async () => {
    const service = await readOwnService(dataFolder).catch(() => undefined);
    return service !== undefined && isAlive(service.pid) && service;
  });
