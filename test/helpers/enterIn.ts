/** Input boxes in which a text is entered as soon as they are shown. */
import './vscodeValues.ts';

const noListener = () => ({ dispose: () => undefined });

/** @param text for all input boxes from now on. @returns those that were shown */
export async function enterInInputBoxes(text: string): Promise<{ readonly validationMessage: string }[]> {
  const shown: { readonly validationMessage: string }[] = [];
  const createInputBox = () => {
    let accept = () => {};
    const onDidAccept = (listener: () => void) => ((accept = listener), { dispose: () => undefined });
    const others = { onDidHide: noListener, onDidTriggerButton: noListener, onDidChangeValue: noListener };
    const texts = { value: '', validationMessage: '' };
    const input = { ...texts, buttons: [], ...others, onDidAccept, dispose: () => undefined };
    const show = () => {
      shown.push(input);
      input.value = text;
      accept();
    };
    return Object.assign(input, { show });
  };
  Object.assign((await import('vscode')).window, { createInputBox });
  return shown;
}
