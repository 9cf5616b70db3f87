/** Mark This Moment…: names a moment of a branch, so that Undo and its like offer it by this name. */
import { l10n } from 'vscode';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import type { Command } from '../../commandSupport/context.ts';
import { announce } from '../../window/ui/announce.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { enterText, nameProblem } from '../../window/ui/input/quickInput.ts';
import { window } from '../../window/ui/window.ts';
import { timeProblem } from '../knownHistory.ts';
import { MAX_MARKER_TEXT } from '../markers.ts';
import { branchArgument, loadHistory, branchRefOf } from './askForMoment.ts';
import { timeProblemText } from './undo.ts';

export const markMoment: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't mark the moment");
  // The time is taken before the questions: it is this moment that the user wants to return to.
  const now = Date.now();
  const title = l10n.t('Mark This Moment');
  const picked = await pickBranch(context, title, branchArgument(context, argument));
  if (picked === undefined) return;
  const history = await loadHistory(context, picked);
  const problem = timeProblem(picked.branch, history, context.session.connection?.isLocal === true);
  if (problem !== undefined)
    return void (await window.showWarningMessage(timeProblemText(problem, picked.fullName)));
  const question = enterText({
    prompt: l10n.t('Name of this moment of {0}', picked.fullName),
    placeholder: l10n.t('such as before the clean-up'),
    problem: (text) => nameProblem(text, MAX_MARKER_TEXT),
  });
  const text = await singleStep(title, question);
  if (text === undefined) return;
  context.markers.add(branchRefOf(context, picked), { kind: 'mark', text }, now);
  announce(l10n.t('Marked this moment as “{0}”. Use Undo… to go back to it.', text));
};
