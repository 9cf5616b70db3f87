/** Compare Rows: what differs in a table or query between two branches, in VS Code's diff editor. */
import { commands, l10n, Uri, window as editors, type Tab } from 'vscode';
import { announce } from '../../window/ui/announce.ts';
import { orderForComparison, branchQuestion, pickBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { BranchIds, BranchRef } from '../../account/refs.ts';
import type { RowRequest } from '../rows/rowDocuments.ts';
import {
  comparisonTexts,
  comparisonTitle,
  differenceCountsText,
  missingTableError,
} from '../ui/comparisonText.ts';
import type { Compute } from '../../../api/records/records.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { findPrimary } from '../../inventory/branchStatus.ts';
import { isPrimary } from '../../inventory/computeStatus.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { envFileBranch } from '../../commandSupport/envFileBranch.ts';
import { findRowSource } from './givenSource.ts';
import { prepareDatabase, pickTable, readWithProgress, type PreparedDatabase } from './prepareDatabase.ts';

export const compareBranchRows: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't compare rows");
  const title = l10n.t('Compare Rows');
  const given = findRowSource(context, argument);
  const account = context.session.requireConnection().accountId;
  const picked = await pickBranch(
    context,
    title,
    given.branch === undefined ? argument : { kind: 'branch', ...given.branch },
    undefined,
    { preferred: envFileBranch(context) },
  );
  if (picked === undefined) return;
  const { projectId, branchId } = picked;
  const parentId = picked.branch.parent_id ?? undefined;
  const other = parentId ?? (await askForBase(context, title, { projectId, branchId }));
  if (other === undefined) return;
  const [base, branch] = orderForComparison(picked, other).map((id) => ({
    account,
    projectId,
    branchId: id,
  })) as [BranchRef, BranchRef];
  const [hasBase, hasBranch] = await Promise.all([base, branch].map((ref) => hasPrimary(context, ref)));
  if (!hasBase || !hasBranch) {
    const past = hasBranch ? { ...branch, pastId: base.branchId } : { ...base, pastId: branch.branchId };
    return void (await executeCommand('hostedPostgres.history.compareRows', {
      ...fieldsOf(argument),
      past,
    }));
  }
  const sides = await findSides(context, title, { branch, base, database: given.database });
  const source = given.source ?? (sides && (await pickTable(title, sides.after)));
  if (sides === undefined || source === undefined) return;
  await showComparison(context, run, sides, { source, branch, base, database: sides.after.login.database });
};

/**
 * Whether the branch has a primary compute. The data of a branch without one, such as one that an undo has kept, is read from a
 * temporary branch.
 */
const hasPrimary = async ({ inventory }: CommandContext, ids: BranchIds): Promise<boolean> =>
  (await findPrimary(inventory, ids)) !== undefined;

/** Compares the documents in the active diff editor again. */
export async function refreshComparison(
  context: CommandContext,
  run: CommandRun,
  tab: Tab,
  request: RowRequest & { readonly base: BranchRef },
): Promise<void> {
  const sides = await findSides(context, l10n.t('Refresh Rows'), request);
  if (sides === undefined || !(await showComparison(context, run, sides, request))) return;
  await editors.tabGroups.close(tab, true);
}

/** Asks what to compare a branch without a parent with. @returns undefined if the user canceled */
async function askForBase(
  context: CommandContext,
  title: string,
  { projectId, branchId }: Omit<BranchRef, 'account'>,
): Promise<string | undefined> {
  const list = context.inventory.branches.forProject(projectId);
  if ((list?.branches.size ?? 0) < 2) throw new Error(l10n.t('The project has no other branch.'));
  const placeholder = l10n.t('Select the branch to compare with');
  const canRead = await hasPrimary(context, { projectId, branchId });
  const problem = (id: string, computes: readonly Compute[]) => {
    if (id === branchId) return l10n.t('the same branch');
    return canRead || computes.some(isPrimary) ? undefined : l10n.t('no computes');
  };
  return await askInSteps(title, (ask) => ask(branchQuestion(context, { projectId, placeholder, problem })));
}

interface Sides {
  readonly before: PreparedDatabase;
  readonly after: PreparedDatabase;
}

/** Returns undefined if the user canceled. */
async function findSides(
  context: CommandContext,
  title: string,
  {
    branch,
    base,
    database,
  }: Pick<RowRequest, 'branch'> & { readonly base: BranchRef; readonly database?: string | undefined },
): Promise<Sides | undefined> {
  const after = await prepareDatabase(context, { title, branch, database });
  const before =
    after && (await prepareDatabase(context, { title, branch: base, database: after.login.database }));
  return after && before && { before, after };
}

/** Returns false if the user canceled. */
export async function showComparison(
  context: CommandContext,
  run: CommandRun,
  { before, after }: Sides,
  request: RowRequest,
): Promise<boolean> {
  const name = sanitize(request.source.name);
  const names = [before.branchName, after.branchName] as const;
  run.failureMessage = l10n.t("Couldn't compare {0} on {1} and {2}", name, ...names);
  const rows = await import('../rows/reading.ts');
  const progress = l10n.t('Comparing {0} on {1} and {2}', name, ...names);
  const logins = { before: before.login, after: after.login };
  const found = await readWithProgress(progress, rows.COMPARE_SECONDS, (signal) =>
    rows.compareRows(logins, request.source, signal).catch((error: unknown) => {
      throw error instanceof rows.NoTableError ? missingTableError(error, name, names) : error;
    }),
  );
  if (found === undefined) return false;
  const texts = comparisonTexts(found);
  const uris = ([before, after] as const).map(({ branchName, login }, side) =>
    Uri.from(
      context.rows.add(
        `${name} · ${sanitize(branchName)} · ${sanitize(login.database)}`,
        texts[side === 0 ? 0 : 1],
        request,
      ),
    ),
  );
  const title = comparisonTitle(name, names, found);
  await commands.executeCommand('vscode.diff', uris[0], uris[1], title, { preview: false });
  announce(l10n.t('{0}: {1}', name, differenceCountsText(found)));
  return true;
}
