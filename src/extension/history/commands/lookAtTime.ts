/** Looks at earlier data of a branch without changing it: its schema, its rows, and psql. */
import { l10n, window as editors, type Terminal } from 'vscode';
import { isBranchId } from '../../../api/records/ids.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { createPastBranch, PAST_BRANCH_LIFETIME } from './pastBranch.ts';
import { findPsqlOrOfferOthers, openTerminal } from '../../connection/commands/psql.ts';
import { onTerminalClosed } from '../../connection/ui/psqlTerminal.ts';
import { projectName } from '../../inventory/names.ts';
import { showComparison } from '../../database/commands/compareBranchRows.ts';
import { findRowSource } from '../../database/commands/givenSource.ts';
import { activeRows } from '../../database/commands/peekRows.ts';
import {
  prepareDatabase,
  pickTable,
  type PreparedDatabase,
} from '../../database/commands/prepareDatabase.ts';
import type { RowRequest } from '../../database/rows/rowDocuments.ts';
import { compareWithPast } from '../../database/commands/schema.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { window } from '../../window/ui/window.ts';
import { schemaChangesLoader } from '../momentChanges.ts';
import type { RestoreSource } from '../../account/refs.ts';
import { askForMoment, branchArgument, loadHistory, branchRefOf } from './askForMoment.ts';
import { timeProblemText } from './undo.ts';

export const comparePastSchema: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't compare the schemas");
  const title = l10n.t('Compare Schema with a Time');
  const past = await pickPast(context, title, argument);
  if (past !== undefined) await compareWithPast(context, title, past.picked, past.source);
};

/**
 * @param argument a row; `{ again: true }` for the comparison in the active editor. A row can have `past`, for the data of a branch
 * without a compute
 */
export const comparePastRows: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't compare rows");
  const title = l10n.t('Compare Rows with a Time');
  if (fieldsOf(argument)['again'] === true) return await compareAgain(context, run, title);
  const given = findRowSource(context, argument);
  const row = given.branch === undefined ? argument : { kind: 'branch', ...given.branch };
  const chosen = (await readGivenPast(context, title, argument)) ?? (await pickPast(context, title, row));
  if (chosen === undefined) return;
  const branch = branchRefOf(context, chosen.picked);
  const now = await prepareDatabase(context, { title, branch, database: given.database });
  const source = given.source ?? (now && (await pickTable(title, now)));
  if (now === undefined || source === undefined) return;
  const { database } = now.login;
  await compareRowsWithPast(context, run, now, { source, branch, database, past: chosen.source });
};

/** Returns the past that Compare Rows… passes in its argument. */
async function readGivenPast(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Past | undefined> {
  const { pastId, ...branch } = fieldsOf(fieldsOf(argument)['past']);
  if (!isBranchId(pastId)) return undefined;
  const picked = await pickBranch(context, title, { ...branch, kind: 'branch' });
  return picked && { picked, source: { branchId: pastId } };
}

async function compareAgain(context: CommandContext, run: CommandRun, title: string): Promise<void> {
  const { tab, request } = activeRows(context) ?? {};
  if (tab === undefined || request?.past === undefined) return;
  const { past } = request;
  const now = await prepareDatabase(context, { title, ...request });
  if (now !== undefined && (await compareRowsWithPast(context, run, now, { ...request, past })))
    await editors.tabGroups.close(tab, true);
}

/** Returns false if the user canceled. */
async function compareRowsWithPast(
  context: CommandContext,
  run: CommandRun,
  after: PreparedDatabase,
  request: RowRequest & { readonly past: RestoreSource },
): Promise<boolean> {
  const { branch, database } = request;
  const past = await createPastBranch(
    context,
    run,
    branch.projectId,
    request.past,
    PAST_BRANCH_LIFETIME.comparison,
  );
  if (past === undefined) return false;
  try {
    const title = l10n.t('Compare Rows with a Time');
    const found = await prepareDatabase(context, { title, branch: past, database, mayWake: true });
    if (found === undefined) return false;
    const before = { ...found, branchName: past.title };
    return await showComparison(context, run, { before, after }, request);
  } finally {
    void past.remove();
  }
}

export const openPastPsql: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open psql");
  const program = findPsqlOrOfferOthers(context, argument);
  if (program === undefined) return;
  const title = l10n.t('psql at a Time');
  const past = await pickPast(context, title, argument);
  const branch =
    past &&
    (await createPastBranch(context, run, past.picked.projectId, past.source, PAST_BRANCH_LIFETIME.psql));
  if (branch === undefined) return;
  const { compute, remove } = branch;
  const name = [projectName(context.inventory, branch.projectId), branch.title].join(' / ');
  let terminal: Terminal | undefined;
  try {
    terminal = await openTerminal(context, { title, program, compute, name, pgOptions: READ_ONLY });
  } finally {
    if (terminal === undefined) await remove();
  }
  if (terminal !== undefined) onTerminalClosed(terminal, () => void remove());
};

/** Makes a session read-only. Users who turn that off change only the temporary branch. */
const READ_ONLY = '-c default_transaction_read_only=on';

interface Past {
  readonly picked: PickedBranch;
  readonly source: RestoreSource;
}

/** Returns undefined if the user canceled, or there is no history, which a message has explained. */
async function pickPast(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Past | undefined> {
  const picked = await pickBranch(context, title, branchArgument(context, argument));
  if (picked === undefined) return undefined;
  const history = await loadHistory(context, picked);
  if (history.retention === 0)
    return void (await window.showWarningMessage(timeProblemText('noHistory', picked.fullName)));
  const placeholder = l10n.t('Select a moment of {0}, or type a time', picked.fullName);
  const question = { placeholder, schemaChanges: schemaChangesLoader(context, history.ref) };
  const chosen = await askInSteps(title, (ask) => askForMoment(ask, history, question));
  return chosen && { picked, source: chosen.source };
}
