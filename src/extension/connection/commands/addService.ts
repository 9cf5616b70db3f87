/** Add to pg_service.conf…: a named connection for every libpq client, without the password. */
import { mkdir, readlink, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { readUserFile, ignoreMissing } from '../../../base/files.ts';
import { replaceFile } from '../../../base/replaceFile.ts';
import type { Login } from '../connectionDefaults.ts';
import { applyReplacement } from '../../envFile/dotEnv.ts';
import { findServiceLines, isServiceName, serviceLines, serviceName, setService } from '../serviceFile.ts';
import { computeLabel } from '../../inventory/computeStatus.ts';
import { fileProblemText } from '../../window/ui/fileProblemText.ts';
import { announce } from '../../window/ui/announce.ts';
import { askAboutLoss } from '../../window/ui/input/dialogs.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { enterText } from '../../window/ui/input/quickInput.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { computeHost } from '../branchLogin.ts';
import { pickComputeRecord } from './copyHost.ts';
import { askForLogin } from './login.ts';

/** The longest name in bytes, because Postgres truncates longer ones. */
const MAX_NAME_BYTES = 63;

export const addService: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't add the service entry");
  requireTrust();
  const title = l10n.t('Add to pg_service.conf');
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined) return;
  const login = await askForLogin(context, { title, compute, scope: undefined, allowsPooled: true });
  if (login === undefined) return;
  const name = await singleStep(
    title,
    enterText({
      prompt: l10n.t('Name of the service, for connections with service=…'),
      value: defaultServiceName(context, compute),
      problem: (text) =>
        isServiceName(text) ? undefined : l10n.t('Use only letters, digits, dots, hyphens and underscores'),
    }),
  );
  if (name === undefined || !(await saveService(name, compute, login))) return;
  announce(l10n.t('Added the service entry. Connect with service={0}', name));
};

export const defaultServiceName = (
  { inventory }: Pick<CommandContext, 'inventory'>,
  compute: Compute,
): string =>
  // The name is empty if the names of project and compute have no Latin letter or digit.
  serviceName(inventory.project(compute.project_id)?.name ?? compute.project_id, computeLabel(compute)) ||
  compute.id;

/** Asks before it replaces a service. @returns false if the user canceled */
export async function saveService(name: string, compute: Compute, login: Login): Promise<boolean> {
  requireTrust();
  const file = await resolveLinkTarget(serviceFilePath());
  const lines = serviceLines({ ...login, host: computeHost(compute, login.pooled) }).map(latin1Bytes);
  // The role and database may come from a workspace's tasks.json. libpq stops reading at a line that is too long.
  const names = [login.role, login.database];
  if (names.some((name) => /[\r\n\0]/.test(name) || Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw new Error(
      l10n.t(
        "The name of a role or database can't be written to {1} if it has a line break or over {0} bytes.",
        MAX_NAME_BYTES,
        path.basename(file),
      ),
    );
  const current = findServiceLines(await readText(file), name);
  if (current !== undefined && isDeepStrictEqual(current.toSorted(), lines.toSorted())) return true;
  if (current !== undefined) {
    const question = l10n.t('Replace the service entry {0} in {1}?', name, path.basename(file));
    const detail = l10n.t('Current values:\n{0}', current.map(hidePassword).join('\n'));
    if (!(await askAboutLoss(question, detail, l10n.t('Replace')))) return false;
  }
  // The file may have changed during the question.
  const changed = applyReplacement(await readText(file), (text) => setService(text, name, lines));
  await mkdir(path.dirname(file), { recursive: true });
  await replaceFile(file, Buffer.from(changed, 'latin1'), { mode: 0o600 });
  return true;
}

/** Hides the password in a line to be shown. */
const hidePassword = (line: string): string =>
  Buffer.from(line, 'latin1')
    .toString()
    .replace(/^((?:ssl)?password=).*/i, '$1…');

/** Returns the file that libpq reads. */
function serviceFilePath(): string {
  const { PGSERVICEFILE: file, APPDATA: appData } = process.env;
  if (file !== undefined && path.isAbsolute(file)) return file;
  return process.platform === 'win32' && appData !== undefined
    ? path.join(appData, 'postgresql', '.pg_service.conf')
    : path.join(os.homedir(), '.pg_service.conf');
}

/** Follows links to the file that is written, which may not exist yet. */
async function resolveLinkTarget(file: string): Promise<string> {
  const real = await realpath(file).catch(ignoreMissing);
  const link = real === undefined ? await readlink(file).catch(ignoreMissing) : undefined;
  if (link === undefined) return real ?? file;
  return await resolveLinkTarget(path.resolve(await realpath(path.dirname(file)), link));
}

/** Reads the file as bytes, so that text in any encoding is kept unchanged. @throws {Error} if it can't be used */
async function readText(file: string): Promise<string> {
  const { bytes, problem } = await readUserFile(file, [path.dirname(file)]);
  if (problem !== undefined) throw new Error(fileProblemText(problem, path.basename(file)));
  return bytes?.toString('latin1') ?? '';
}

const latin1Bytes = (text: string): string => Buffer.from(text).toString('latin1');
