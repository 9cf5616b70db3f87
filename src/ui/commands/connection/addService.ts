/** Add to pg_service.conf…: a named service that every libpq client can connect to, without the password. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { isEqual } from '../../../base/equal.ts';
import type { Login } from '../../../model/connection/connectionDefaults.ts';
import {
  findService,
  isServiceName,
  serviceLines,
  serviceName,
  setService,
} from '../../../model/connection/serviceFile.ts';
import { labelOf } from '../../../model/inventory/computeStatus.ts';
import { announce } from '../../notifications/announce.ts';
import type { Command, CommandContext } from '../context.ts';
import { confirm } from '../input/dialogs.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { askText } from '../input/quickInput.ts';
import { requireTrust } from '../input/trust.ts';
import { hostOf, pickRecord } from './host.ts';
import { askForLogin } from './login.ts';

export const addService: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't add the service");
  requireTrust();
  const title = l10n.t('Add to pg_service.conf');
  const compute = await pickRecord(context, title, argument);
  if (compute === undefined) return;
  const login = await askForLogin(context, { title, compute, scope: undefined, canBePooled: true });
  if (login === undefined) return;
  const name = await singleStep(title, (page) =>
    askText(page, {
      prompt: l10n.t('Name of the service, for connections with service=…'),
      value: defaultServiceName(context, compute),
      problem: (text) =>
        isServiceName(text) ? undefined : l10n.t('Use only letters, digits, dots, hyphens and underscores'),
    }),
  );
  if (name === undefined || !(await saveService(name, compute, login))) return;
  announce(l10n.t('Added. Connect with service={0}', name));
};

export const defaultServiceName = (
  { inventory }: Pick<CommandContext, 'inventory'>,
  compute: Compute,
): string =>
  // Names without a Latin letter or digit leave nothing.
  serviceName(inventory.project(compute.project_id)?.name ?? compute.project_id, labelOf(compute)) ||
  compute.id;

/** Asks before it replaces a service. @returns false if the user canceled */
export async function saveService(name: string, compute: Compute, login: Login): Promise<boolean> {
  requireTrust();
  const file = serviceFilePath();
  const lines = serviceLines({ ...login, host: hostOf(compute, login.pooled) }).map(toBytes);
  // A workspace's tasks.json may name the role and the database.
  if (lines.some((line) => /[\r\n\0]/.test(line)))
    throw new Error(l10n.t("Names with a line break can't be written to {0}.", path.basename(file)));
  const known = findService(await readText(file), name);
  if (known !== undefined && isEqual(known.toSorted(), lines.toSorted())) return true;
  if (known !== undefined) {
    const question = l10n.t('Replace the service {0} in {1}?', name, path.basename(file));
    const detail = l10n.t('Current values:\n{0}', known.map(shown).join('\n'));
    if (!(await confirm(question, detail, l10n.t('Replace')))) return false;
  }
  // The file may have changed during the question.
  const text = await readText(file);
  const change = setService(text, name, lines);
  await replaceFile(file, text.slice(0, change.start) + change.text + text.slice(change.end));
  return true;
}

/** Without passwords. */
const shown = (line: string): string =>
  Buffer.from(line, 'latin1')
    .toString()
    .replace(/^((?:ssl)?password=).*/i, '$1…');

/** Where libpq looks. */
function serviceFilePath(): string {
  const { PGSERVICEFILE: file, APPDATA: appData } = process.env;
  if (file !== undefined && path.isAbsolute(file)) return file;
  return process.platform === 'win32' && appData !== undefined
    ? path.join(appData, 'postgresql', '.pg_service.conf')
    : path.join(os.homedir(), '.pg_service.conf');
}

/** As bytes, so that text in any encoding stays as it is. */
async function readText(file: string): Promise<string> {
  return await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

const PRIVATE = 0o600;

/** Readers see the old or the new file, and never a part. A link stays, and so do the permissions. */
async function replaceFile(link: string, bytes: string): Promise<void> {
  await mkdir(path.dirname(link), { recursive: true });
  const file = await realpath(link).catch(() => link);
  const mode = await stat(file).then(
    (stats) => stats.mode & 0o777,
    () => PRIVATE,
  );
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(bytes, 'latin1');
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
