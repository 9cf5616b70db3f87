/** Lists the extensions that the SQL files of the workspace create, and whether the local service has them. */
import { l10n, workspace } from 'vscode';
import { createdExtensions } from '../../../base/sql/createdExtensions.ts';
import { extensionAdvice, installCommand } from '../../../base/sql/missingExtension.ts';
import type { AvailableExtensions } from '../../../localService/leaseProof.ts';
import { LocalServiceError } from '../../../localService/lease.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

const MAX_FILES = 500;
/** Bytes. Larger files are data. */
const MAX_SIZE = 1024 * 1024;

/** An item that is picked copies its command. @throws {LocalServiceError} if there is no Postgres */
export async function showExtensions(
  localService: CommandContext['localService'],
  postgresPath: string | undefined,
): Promise<void> {
  const load = async () => {
    const [names, check] = await Promise.all([namesInWorkspace(), localService.checkPostgres(postgresPath)]);
    if (check.problem !== undefined) throw new LocalServiceError('noPostgres', check.problem);
    return names.map((name) => toChoice(name, check.extensions));
  };
  const command = await singleStep(
    l10n.t('Set Up Postgres'),
    pickOne({
      placeholder: l10n.t('Extensions that SQL files of the workspace create. Pick one to copy its command'),
      none: l10n.t('Postgres works. No SQL file of the workspace creates an extension.'),
      items: load,
    }),
  );
  if (command !== undefined) await copyText(command, l10n.t('Copied the command'));
}

function toChoice(name: string, { included, found }: AvailableExtensions): Choice<string> {
  if (included.includes(name)) return { label: name, description: l10n.t('included'), value: undefined };
  const other = found.find(({ names }) => names.includes(name));
  if (other !== undefined)
    return { label: name, description: l10n.t('found in {0}', other.folder), value: undefined };
  return {
    label: name,
    description: l10n.t('missing'),
    detail: extensionAdvice(name),
    value: installCommand(name),
  };
}

async function namesInWorkspace(): Promise<string[]> {
  const files = await workspace.findFiles('**/*.sql', '**/{node_modules,vendor,.git}/**', MAX_FILES);
  const names = new Set<string>();
  for (const file of files) {
    const text = await readSmall(file);
    // Most files create none.
    if (/extension/i.test(text)) for (const name of createdExtensions(text)) names.add(name);
  }
  return [...names].toSorted();
}

/** Empty for a large file, or one that is gone or may not be read. */
async function readSmall(file: Parameters<typeof workspace.fs.readFile>[0]): Promise<string> {
  try {
    const { size } = await workspace.fs.stat(file);
    return size > MAX_SIZE ? '' : new TextDecoder().decode(await workspace.fs.readFile(file));
  } catch {
    return '';
  }
}
