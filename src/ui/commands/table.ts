/** Every command, loaded when it is first run. The manifest declares the same ids, which a test compares. */
import type { Command, CommandContext } from './context.ts';

const load = () => import('./commands.ts');

export const COMMANDS: Readonly<Record<string, Command>> = {
  'hostedPostgres.account.connect': async (...given) => (await load()).account.connect(...given),
  'hostedPostgres.account.switch': async (...given) => (await load()).account.switchAccount(...given),
  'hostedPostgres.account.disconnect': async (...given) => (await load()).account.disconnect(...given),
  'hostedPostgres.account.remove': async (...given) => (await load()).account.remove(...given),
  'hostedPostgres.apiKey.create': async (...given) => (await load()).apiKey.create(...given),
  'hostedPostgres.apiKey.revoke': async (...given) => (await load()).apiKey.revoke(...given),
  'hostedPostgres.apiKey.rotate': async (...given) => (await load()).apiKeyRotation.rotate(...given),
  'hostedPostgres.compute.create': async (...given) => (await load()).compute.create(...given),
  'hostedPostgres.compute.edit': async (...given) => (await load()).computeEdit.edit(...given),
  'hostedPostgres.compute.delete': async (...given) => (await load()).compute.deleteCompute(...given),
  'hostedPostgres.compute.find': async (...given) => (await load()).find.find(...given),
  'hostedPostgres.compute.restart': async (...given) => (await load()).compute.restart(...given),
  'hostedPostgres.compute.copyHost': async (...given) => (await load()).copy.copyHost(...given),
  'hostedPostgres.compute.copyConnectionString': async (...given) =>
    (await load()).copy.copyConnectionString(...given),
  'hostedPostgres.compute.copyLink': async (...given) => (await load()).computeLinks.copyLink(...given),
  'hostedPostgres.compute.openLink': async (...given) => (await load()).computeLinks.openLink(...given),
  'hostedPostgres.compute.insertHost': async (...given) => (await load()).insertHost.insertHost(...given),
  'hostedPostgres.compute.openPsql': async (...given) => (await load()).psql.openPsql(...given),
  'hostedPostgres.connectionString.writeEnv': async (...given) => (await load()).writeEnv.writeEnv(...given),
  'hostedPostgres.localService.start': async (...given) => (await load()).localService.start(...given),
  'hostedPostgres.localService.stop': async (...given) => (await load()).localService.stop(...given),
  'hostedPostgres.log.show': ({ log }) => log.show(),
  'hostedPostgres.operations.show': async (...given) => (await load()).operations.show(...given),
  'hostedPostgres.view.copyId': async (...given) => (await load()).copy.copyId(...given),
  'hostedPostgres.view.refresh': async (...given) => (await load()).view.refresh(...given),
  'hostedPostgres.view.showMore': ({ computesView }) => computesView.showMore(),
};

export const finishRotations = async (context: CommandContext): Promise<void> =>
  await (await load()).rotationRecovery.finishRotations(context);
