/** Open and compare the schemas of branches. */
import { commands, l10n, TabInputTextDiff, Uri, window as editors } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { RestoreSource } from '../../account/refs.ts';
import { announce } from '../../window/ui/announce.ts';
import { differencesText } from '../../window/ui/differencesText.ts';
import { pastBranchText } from '../../window/ui/timeText.ts';
import { NotOfferedError } from '../../window/changeErrors.ts';
import { compareSchemas } from '../schema/compareSchemas.ts';
import { parseSchemaUri, schemaUri } from '../schema/schemas.ts';
import { SCHEMA_SCHEME } from '../schema/schemaScheme.ts';
import { tabUris } from '../ui/rowsDocuments.ts';
import { branchTitle, documentTitle } from '../../inventory/names.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import {
  orderForComparison,
  branchQuestion,
  pickBranch,
  type PickedBranch,
} from '../../commandSupport/branchPicker.ts';
import { withCancel } from '../../window/ui/input/dialogs.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';

export const openSchema: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open the schema");
  const title = l10n.t('Open Schema');
  const picked = await pickBranch(context, title, argument);
  if (picked === undefined) return;
  run.failureMessage = l10n.t("Couldn't open the schema of {0}", picked.fullName);
  const answers = await askForBaseAndDatabase(context, title, picked, picked.branchId);
  if (answers === undefined) return;
  const uri = uriOf(context, { ...picked, database: answers.database });
  await showSchema(context, uri);
};

/** @param argument a branch; with `baseId` (`parent` or an id) and `database`, neither is asked for */
export const compareSchema: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't compare the schemas");
  const title = l10n.t('Compare Schema');
  const placeholder = l10n.t('Select the branch whose changes to show');
  const picked = await pickBranch(context, title, argument, undefined, { placeholder });
  if (picked === undefined) return;
  run.failureMessage = l10n.t("Couldn't compare the schema of {0}", picked.fullName);
  if (picked.list.branches.size < 2) throw new Error(l10n.t('The project has no other branch.'));
  const { baseId: given, database: known } = fieldsOf(argument);
  const chosen = given === 'parent' ? picked.branch.parent_id : given;
  const isListed = typeof chosen === 'string' && picked.list.branches.has(chosen);
  const answers = await askForBaseAndDatabase(context, title, picked, isListed ? chosen : undefined, known);
  if (answers === undefined) return;
  const { projectId } = picked;
  const { database, baseId: other } = answers;
  const [base, compared] = orderForComparison(picked, other).map((id) =>
    uriOf(context, { projectId, branchId: id, database }),
  ) as [Uri, Uri];
  await showDifference(context, base, compared);
};

/** Compares with earlier data of the branch. After an undo, another branch has that data. */
export async function compareWithPast(
  context: CommandContext,
  title: string,
  picked: PickedBranch,
  { branchId: baseId, at }: RestoreSource,
): Promise<void> {
  const answers = await askForBaseAndDatabase(context, title, picked, baseId);
  if (answers === undefined) return;
  const { projectId, branchId } = picked;
  const { database } = answers;
  const base = uriOf(context, { projectId, branchId: baseId, database, at });
  await showDifference(context, base, uriOf(context, { projectId, branchId, database }));
}

/** Refreshes the schemas in the active editor, from a button in its title. */
export const refreshSchema: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't refresh the schema");
  const tab = editors.tabGroups.activeTabGroup.activeTab;
  const uris = tab === undefined ? [] : tabUris(tab);
  if (tab === undefined || !uris.every(({ scheme }) => scheme === SCHEMA_SCHEME)) return;
  const current = uris.map((uri) => uri.with({ path: context.schemas.currentPath(uri) }));
  const [first, second] = current;
  if (first === undefined) return;
  // After a restore from a snapshot, other documents show the branch, which has another id.
  const isReplaced = String(current) !== String(uris);
  if (second !== undefined) await showDifference(context, first, second);
  else if (isReplaced) await showSchema(context, first);
  else await loadSchemas(context, l10n.t('Loading the schema'), [first]);
  if (isReplaced) await editors.tabGroups.close(tab, true);
};

async function showSchema(context: CommandContext, uri: Uri): Promise<void> {
  await loadSchemas(context, l10n.t('Loading the schema'), [uri]);
  await commands.executeCommand('vscode.open', uri, { preview: false });
}

function uriOf(context: CommandContext, origin: Parameters<typeof schemaUri>[1]): Uri {
  const title = documentTitle(context.inventory, origin);
  return Uri.from(schemaUri(context.session.requireConnection().account, origin, title));
}

async function showDifference(context: CommandContext, base: Uri, compared: Uri): Promise<void> {
  const names = [base, compared].map((uri) => nameOf(context, uri));
  const [from = '', to = ''] = names;
  const progress = l10n.t('Comparing the schemas of {0} and {1}', from, to);
  const [before = '', after = ''] = await loadSchemas(context, progress, [base, compared]);
  const database = sanitize(parseSchemaUri(compared)?.database ?? '');
  const differences = differencesText(compareSchemas(before, after)) || l10n.t('no differences');
  const title = `${database}: ${names.join(' ↔ ')} (${differences})`;
  const tab = editors.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .find(({ input }) => input instanceof TabInputTextDiff && isSame(input, base, compared));
  const selection = tab?.isActive === true ? editors.activeTextEditor?.selection : undefined;
  // The title of an open editor can't be changed.
  if (tab !== undefined && tab.label !== title) await editors.tabGroups.close(tab);
  const options = { preview: false, ...(selection && { selection }) };
  await commands.executeCommand('vscode.diff', base, compared, title, options);
  announce(l10n.t('{0} compared with {1}: {2}', to, from, differences));
}

const isSame = ({ original, modified }: TabInputTextDiff, base: Uri, compared: Uri): boolean =>
  original.toString() === base.toString() && modified.toString() === compared.toString();

function nameOf({ inventory }: CommandContext, uri: Uri): string {
  const { projectId = '', branchId = '', at } = parseSchemaUri(uri) ?? {};
  return pastBranchText(branchTitle(branchId, inventory.branches.get(projectId, branchId)), at);
}

/** @throws {Error} with a message for the user if the branch of a schema was deleted */
async function requireExistingBranches(context: CommandContext, uris: readonly Uri[]): Promise<void> {
  for (const uri of uris) await pickBranch(context, '', { kind: 'branch', ...parseSchemaUri(uri) });
}

/** Loads schemas again. @throws {Error} with a message for the user if a branch was deleted */
async function loadSchemas(
  context: CommandContext,
  progress: string,
  uris: readonly Uri[],
): Promise<readonly string[]> {
  try {
    return await withCancel(progress, async (options) =>
      Promise.all(uris.map((uri) => context.schemas.load(uri, options))),
    );
  } catch (error) {
    // A 404 means that the service doesn't offer the call, or that the branch was deleted.
    if (error instanceof NotOfferedError) await requireExistingBranches(context, uris);
    throw error;
  }
}

/**
 * Asks for the branch to compare with (the parent by default), and for the database if there are several.
 * @param given the branch to compare with, if it is known
 * @param known the database, if the branch has it
 */
async function askForBaseAndDatabase(
  context: CommandContext,
  title: string,
  { projectId, branchId, branch, list }: PickedBranch,
  given?: string,
  known?: unknown,
): Promise<{ readonly baseId: string; readonly database: string } | undefined> {
  const databases = await withCancel(l10n.t('Loading the databases'), (options) =>
    context.schemas.databases(projectId, branchId, options),
  );
  const others = [...list.branches.keys()].filter((id) => id !== branchId);
  const [onlyOther] = others.length === 1 ? others : [];
  const onlyDatabase = databases.find((name) => databases.length === 1 || name === known);
  const question = {
    projectId,
    placeholder: l10n.t('Select the branch to compare with'),
    current: branch.parent_id ?? undefined,
    problem: (id: string) => (id === branchId ? l10n.t('the same branch') : undefined),
  };
  const items = databases.map((label) => ({ label, value: label }));
  return await askInSteps(title, async (askNext) => {
    const following = onlyDatabase === undefined ? 1 : 0;
    const baseId = given ?? onlyOther ?? (await askNext(branchQuestion(context, question), { following }));
    const placeholder = l10n.t('Select a database');
    const database = onlyDatabase ?? (await askNext(pickOne({ placeholder, items })));
    return { baseId, database };
  });
}
