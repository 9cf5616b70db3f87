/** Lists the extensions that SQL files of the workspace create and hosted branches have, and whether the local service has them. */
import { l10n, workspace } from 'vscode';
import { readUserFile } from '../../../base/files.ts';
import { findCreatedExtensions } from '../../../base/sql/createdExtensions.ts';
import { extensionAdvice, installCommand } from '../../../base/sql/missingExtension.ts';
import type { AvailableExtensions } from '../../../localService/leaseProof.ts';
import { LocalServiceError } from '../../../localService/lease.ts';
import { findHostedExtensions } from './hostedExtensions.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { workspacePaths } from '../../window/ui/workspace.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

const MAX_FILES = 500;

/**
 * Lists the Postgres extensions that the SQL files and hosted branches use. Picking a missing one copies the command that installs it.
 * @throws {LocalServiceError} if there is no Postgres
 */
export async function showPostgresExtensions(context: CommandContext): Promise<void> {
  const load = async () => {
    const [created, hosted, check] = await Promise.all([
      findExtensionsInFiles(),
      findHostedExtensions(context, [...context.computesView.expandedProjects]),
      context.localService.checkPostgres(context.config.postgresPath),
    ]);
    if (check.problem !== undefined) throw new LocalServiceError('noPostgres', check.problem);
    const { found } = check.extensions;
    const names = [...new Set([...created, ...hosted])].toSorted();
    const unused = found.flatMap(({ folder, problem }): Choice<undefined>[] =>
      problem === undefined
        ? []
        : [{ label: folder, description: l10n.t('not used'), detail: problem, value: undefined }],
    );
    return [...names.map((name) => extensionChoice(name, check.extensions)), ...unused];
  };
  const command = await singleStep(
    l10n.t('Set Up Postgres'),
    pickOne({
      placeholder: l10n.t(
        'Extensions that your SQL files and hosted branches use. Pick one to copy its install command',
      ),
      none: l10n.t('Postgres works. No SQL file of the workspace creates an extension.'),
      items: load,
    }),
  );
  if (command !== undefined) await copyText(command, l10n.t('Copied the command'));
}

function extensionChoice(name: string, { included, found }: AvailableExtensions): Choice<string> {
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

async function findExtensionsInFiles(): Promise<string[]> {
  const files = await workspace.findFiles('**/*.sql', '**/{node_modules,vendor,.git}/**', MAX_FILES);
  const names: string[] = [];
  for (const file of files) {
    const { bytes } = await readUserFile(file.fsPath, workspacePaths());
    const text = bytes?.toString() ?? '';
    // Most files create no extension, so they needn't be parsed.
    if (/extension/i.test(text)) names.push(...findCreatedExtensions(text));
  }
  return names;
}
