/** Input boxes in which a text is entered as soon as they are shown. */
import './vscodeValues.ts';

const noListener = () => ({ dispose: () => undefined });

/** @param text for all input boxes from now on */
export async function enterInInputBoxes(text: string): Promise<void> {
  const createInputBox = () => {
    let accept = () => {};
    const onDidAccept = (listener: () => void) => ((accept = listener), { dispose: () => undefined });
    const others = { onDidHide: noListener, onDidTriggerButton: noListener, onDidChangeValue: noListener };
    const input = { value: '', buttons: [], ...others, onDidAccept, dispose: () => undefined };
    const show = () => {
      input.value = text;
      accept();
    };
    return Object.assign(input, { show });
  };
  Object.assign((await import('vscode')).window, { createInputBox });
}
