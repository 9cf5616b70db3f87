/** Input boxes in which a text is entered as soon as they are shown. */
import './vscodeValues.ts';
import { atEndOfTest } from './atEndOfTest.ts';

const noListener = () => ({ dispose: () => undefined });

/** @param text what to enter in all input boxes until the end of the test. @returns those that were shown */
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
  const { window } = await import('vscode');
  const { createInputBox: createOther } = window;
  atEndOfTest(() => Object.assign(window, { createInputBox: createOther }));
  Object.assign(window, { createInputBox });
  return shown;
}
