import { window } from 'vscode';

/** A modal question that names the thing, and in `detail` what happens to it; its button is the verb. */
export async function confirm(question: string, detail: string, verb: string): Promise<boolean> {
  return (await window.showWarningMessage(question, { modal: true, detail }, verb)) === verb;
}
