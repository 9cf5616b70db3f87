/** The local service that the extension runs by itself: found as a second window finds it, by the file it leaves. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BaseUrl } from '../../../src/api/baseUrl.ts';
import { isAlive } from '../../../src/base/processIdentity.ts';
import { until } from '../../workbench/until.ts';

export interface OwnService {
  readonly baseUrl: BaseUrl;
  readonly pid: number;
}

export const ownServiceFolder = (dataFolder: string): string =>
  path.join(dataFolder, 'data/User/globalStorage/hosted-postgres.hosted-postgres/local-service');

/** The one that wrote the file last, whether it still runs or not. */
export const readOwnService = async (dataFolder: string): Promise<OwnService> =>
  JSON.parse(await readFile(path.join(ownServiceFolder(dataFolder), 'service.json'), 'utf8'));

/** Waits until one runs. */
export const findOwnService = (dataFolder: string): Promise<OwnService> =>
  until('the extension to run a local service', async () => {
    const service = await readOwnService(dataFolder).catch(() => undefined);
    return service !== undefined && isAlive(service.pid) && service;
  });
