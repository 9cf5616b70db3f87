/** The local service that the extension runs by itself: found as a second window finds it, by the file it leaves. */
import { readFile, stat } from 'node:fs/promises';
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

/** Waits until one runs. */
export const findOwnService = (dataFolder: string): Promise<OwnService> =>
  until('the extension to run a local service', async () => {
    const file = path.join(ownServiceFolder(dataFolder), 'service.json');
    if (!(await stat(file).catch(() => undefined))) return undefined;
    const service: OwnService = JSON.parse(await readFile(file, 'utf8'));
    return isAlive(service.pid) && service;
  });
