/**
 * Lists the extensions that SQL files and migrations of the workspace create and hosted branches have, and whether the local
 * service has them.
 */
import { l10n, workspace } from 'vscode';
import { createdExtensions } from '../../../base/sql/createdExtensions.ts';
import { extensionsInCode } from '../../../base/sql/extensionsInCode.ts';
import { extensionAdvice, installCommand, isKnown } from '../../../base/sql/missingExtension.ts';
import type { AvailableExtensions } from '../../../localService/leaseProof.ts';
import { LocalServiceError } from '../../../localService/lease.ts';
import { namesInBranches } from './hostedExtensions.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

const MAX_FILES = 500;
/** Bytes. Larger files are data. */
const MAX_SIZE = 1024 * 1024;

/** Migrations in other languages. VS Code allows no braces in braces. */
const CODE = [
  '**/{migration,migrations,migrate,versions,alembic,db,drizzle}/**/*.{rb,py,ts,mts,js,mjs,cjs,go,php,exs,cs,java,kt}',
  '**/*.prisma',
];

/** An item that is picked copies its command. @throws {LocalServiceError} if there is no Postgres */
export async function showExtensions(context: CommandContext): Promise<void> {
  const load = async () => {
    const [sql, code, hosted, check] = await Promise.all([
      namesInFiles(['**/*.sql'], createdExtensions),
      namesInFiles(CODE, extensionsInCode),
      namesInBranches(context, [...context.computesView.expandedProjects]),
      context.localService.checkPostgres(context.config.postgresPath),
    ]);
    if (check.problem !== undefined) throw new LocalServiceError('noPostgres', check.problem);
    const { included, found } = check.extensions;
    const available = new Set([...included, ...found.flatMap(({ names }) => names)]);
    // Code can also have the words in a comment.
    const created = code.filter((name) => available.has(name) || isKnown(name));
    const names = [...new Set([...sql, ...created, ...hosted])].toSorted();
    const unused = found.flatMap(({ folder, problem }): Choice<undefined>[] =>
      problem === undefined
        ? []
        : [{ label: folder, description: l10n.t('not used'), detail: problem, value: undefined }],
    );
    return [...names.map((name) => toChoice(name, check.extensions)), ...unused];
  };
  const command = await singleStep(
    l10n.t('Set Up Postgres'),
    pickOne({
      placeholder: l10n.t(
        'Extensions that your migrations and hosted branches use. Pick one to copy its command',
      ),
      none: l10n.t('Postgres works. No migration of the workspace creates an extension.'),
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

async function namesInFiles(
  patterns: readonly string[],
  find: (text: string) => string[],
): Promise<string[]> {
  const files = await Promise.all(
    patterns.map((each) => workspace.findFiles(each, '**/{node_modules,vendor,.git}/**', MAX_FILES)),
  );
  const names: string[] = [];
  for (const file of files.flat()) {
    const text = await readSmall(file);
    // Most files create none.
    if (/extension/i.test(text)) names.push(...find(text));
  }
  return names;
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
