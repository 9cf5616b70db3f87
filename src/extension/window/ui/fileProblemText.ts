/** Why a file of the workspace can't be used. */
import { l10n } from 'vscode';
import type { FileProblem } from '../../../base/files.ts';

/** @param file the name of the file */
export const fileProblemTexts = (file: string): Record<FileProblem, string> => ({
  brokenLink: l10n.t("{0} is a link to a file that doesn't exist.", file),
  outside: l10n.t('{0} is a link out of the workspace.', file),
  noFile: l10n.t("{0} isn't a regular file.", file),
  tooLarge: l10n.t('{0} is too large.', file),
  tooSlow: l10n.t("{0} couldn't be read in time.", file),
  unreadable: l10n.t("{0} can't be read.", file),
});

export const fileProblemText = (problem: FileProblem, file: string): string =>
  fileProblemTexts(file)[problem];
