/** Copy Host and Insert Host, with the questions for the compute and its host. */
import { l10n, Range, window, type TextDocument, type TextEditorEdit } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { pooledHost } from '../../../api/addresses/host.ts';
import { computeHost } from '../branchLogin.ts';
import { portPlace, withPort } from '../portPlace.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep, type Question } from '../../window/ui/input/multiStepInput.ts';
import { pickCompute, requireCompute } from '../../commandSupport/pickers.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';

export const copyHost: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the host");
  const host = await pickHost(context, l10n.t('Copy Host'), argument);
  if (host !== undefined) await copyText(host, l10n.t('Copied {0}', sanitize(host)));
};

/**
 * Inserts a host at every cursor of the editor, or replaces the selections. At a single cursor, the port goes where completion
 * puts it.
 */
export const insertHost: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't insert the host");
  const editor = window.activeTextEditor;
  if (editor === undefined) throw new Error(l10n.t('No editor is open.'));
  const host = await pickHost(context, l10n.t('Insert Host'), argument);
  if (host === undefined) return;
  const { document, selections } = editor;
  const isInserted = await editor.edit((edit) => {
    if (selections.length > 1) for (const selection of selections) edit.replace(selection, host);
    else replaceByHost(edit, document, editor.selection, host);
  });
  if (!isInserted) throw new Error(l10n.t("The document can't be edited."));
};

function replaceByHost(edit: TextEditorEdit, document: TextDocument, selection: Range, host: string): void {
  const { start, end } = selection;
  const place = portPlace({ start: start.character, end: end.character }, start.line, document);
  const { text, port } = withPort(host, place);
  edit.replace(selection, text);
  if (place.kind === 'instead' && port !== undefined)
    edit.replace(new Range(place.line, place.start, place.line, place.end), port);
}

/** Returns the record of the argument's compute, or of the one the user picks. @returns undefined if the user canceled */
export async function pickComputeRecord(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Compute | undefined> {
  const node = await pickCompute(context, title, argument);
  return node && (await requireCompute(context, node));
}

/** Asks for the compute if there is no argument, and for the host if there are two. */
async function pickHost(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<string | undefined> {
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined || pooledHost(compute) === undefined) return compute?.host;
  const isPooled = await singleStep(title, poolingQuestion(context, compute));
  return isPooled === undefined ? undefined : computeHost(compute, isPooled);
}

/** Returns the question whether to use the direct or the pooled host. The answer is true for the pooled one. */
export function poolingQuestion(
  { connectionDefaults }: Pick<CommandContext, 'connectionDefaults'>,
  compute: Compute,
): Question<boolean> {
  const isCurrent = connectionDefaults.prefersPooled(compute.project_id);
  const items = [
    { label: l10n.t('Direct'), description: sanitize(compute.host), value: false },
    { label: l10n.t('Pooled'), description: sanitize(pooledHost(compute) ?? ''), value: true, isCurrent },
  ];
  return pickOne({ placeholder: l10n.t('Select a host'), items });
}
