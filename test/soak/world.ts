/** The programs that a soak uses, each started as its users start it, and running until the end. */
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startAgent, type Agent } from '../helpers/agent.ts';
import { branchCalls } from '../helpers/branchCalls.ts';
import { builtMcp } from '../helpers/builtMcp.ts';
import { installProgram, startProgram } from '../helpers/npxProgram.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { findOwnService, ownServiceFolder } from '../host/ui/ownService.ts';
import { query } from '../real/service/postgres/clients.ts';
import { openWorkbench, type OpenWorkbench } from '../workbench/open.ts';
import { until } from '../workbench/until.ts';

interface Service {
  readonly baseUrl: string;
  readonly key: string;
}

export interface SoakWorld {
  /** Where `npx hosted-postgres` runs, with migrations. */
  readonly folder: string;
  readonly npxProgram: string;
  readonly service: Service;
  /** The address of the database of `npx hosted-postgres`. */
  readonly url: string;
  readonly agent: Agent;
  readonly window: OpenWorkbench;
  readonly windowService: Service;
  readonly dataFolders: readonly string[];
  close(): Promise<void>;
}

export async function openWorld(): Promise<SoakWorld> {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'migrations'));
  writeFileSync(path.join(folder, 'migrations', '1.sql'), 'create table item (id int primary key)');
  const npxProgram = await installProgram();
  const npx = startProgram([process.execPath, npxProgram, '--port', '0'], folder, os.tmpdir());
  const service = await until('npx', async () => {
    const [, baseUrl, key] = /Base URL: (\S+)\nAPI key: (\S+)\n/.exec(npx.output()) ?? [];
    return baseUrl !== undefined && key !== undefined && { baseUrl, key };
  });
  const url = await findUrl(service);
  await query(url, 'create table soak (id int generated always as identity)');
  const agent = await startAgent({
    command: process.execPath,
    args: [path.join(await builtMcp(), 'dist', 'mcp.js')],
    env: { HOSTED_POSTGRES_DATA_DIR: path.join(folder, '.hosted-postgres') },
    cwd: temporaryFolder(),
    name: 'Claude Code',
  });
  const window = await openWorkbench();
  await window.openView('Hosted Postgres');
  await window.clickWelcome('Computes', 'Try it with the local service');
  await window.computes.waitForFirstProject();
  await window.computes.expandProject('shop');
  const { baseUrl } = await findOwnService(window.dataFolder);
  return {
    folder,
    npxProgram,
    service,
    url,
    agent,
    window,
    windowService: { baseUrl, key: await createKey(window) },
    dataFolders: [path.join(folder, '.hosted-postgres'), ownServiceFolder(window.dataFolder)],
    async close() {
      await agent.stop();
      await window.close();
      npx.kill('SIGTERM');
      await npx.ended;
    },
  };
}

async function findUrl(service: Service): Promise<string> {
  const login = 'database_name=app&role_name=app_owner&branch_id=br-local-main';
  const api = branchCalls(service);
  return (await api.send<{ uri: string }>('GET', `/local-project/connection_uri?${login}`)).uri;
}

async function createKey(window: OpenWorkbench): Promise<string> {
  await window.run('Create API Key…');
  await window.quickInput.answer('Name of the key', 'soak');
  const { detail } = await window.dialog.read();
  await window.dialog.press('Close');
  return detail.split('\n').at(-1) ?? '';
}
