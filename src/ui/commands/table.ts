/** Every command, loaded when it is first run. The manifest declares the same ids, which a test compares. */
import type { Command } from './context.ts';

const account = () => import('./account.ts');
const apiKey = () => import('./apiKey.ts');
const compute = () => import('./compute.ts');
const copy = () => import('./copy.ts');
const localService = () => import('./localServiceCommands.ts');
const operations = () => import('./operations.ts');

export const COMMANDS: Readonly<Record<string, Command>> = {
  'hostedPostgres.account.connect': async (...given) => (await account()).connect(...given),
  'hostedPostgres.account.switch': async (...given) => (await account()).switchAccount(...given),
  'hostedPostgres.account.disconnect': async (...given) => (await account()).disconnect(...given),
  'hostedPostgres.account.remove': async (...given) => (await account()).remove(...given),
  'hostedPostgres.apiKey.create': async (...given) => (await apiKey()).create(...given),
  'hostedPostgres.apiKey.revoke': async (...given) => (await apiKey()).revoke(...given),
  'hostedPostgres.apiKey.rotate': async (...given) => (await import('./apiKeyRotation.ts')).rotate(...given),
  'hostedPostgres.compute.create': async (...given) => (await compute()).create(...given),
  'hostedPostgres.compute.edit': async (...given) => (await import('./computeEdit.ts')).edit(...given),
  'hostedPostgres.compute.delete': async (...given) => (await compute()).deleteCompute(...given),
  'hostedPostgres.compute.find': async (...given) => (await import('./find.ts')).find(...given),
  'hostedPostgres.compute.restart': async (...given) => (await compute()).restart(...given),
  'hostedPostgres.compute.copyHost': async (...given) => (await copy()).copyHost(...given),
  'hostedPostgres.compute.copyConnectionString': async (...given) =>
    (await copy()).copyConnectionString(...given),
  'hostedPostgres.compute.insertHost': async (...given) =>
    (await import('./insertHost.ts')).insertHost(...given),
  'hostedPostgres.compute.openPsql': async (...given) => (await import('./psql.ts')).openPsql(...given),
  'hostedPostgres.connectionString.writeEnv': async (...given) =>
    (await import('./writeEnv.ts')).writeEnv(...given),
  'hostedPostgres.localService.start': async (...given) => (await localService()).start(...given),
  'hostedPostgres.localService.stop': async (...given) => (await localService()).stop(...given),
  'hostedPostgres.log.show': ({ log }) => log.show(),
  'hostedPostgres.operations.show': async (...given) => (await operations()).show(...given),
  'hostedPostgres.view.refresh': async (...given) => (await import('./view.ts')).refresh(...given),
  'hostedPostgres.view.showMore': ({ computesView }) => computesView.showMore(),
};
