/** Translates texts for windows into their language. For other programs, texts stay in English. */

/** The part of `vscode.l10n` and `vscode.env` that such texts need. */
export interface Translator {
  /** The language of numbers, such as `de`. */
  readonly language: string;
  /** Translates a text, and replaces `{0}`, `{1}` and so on in it by the values. */
  t(text: string, ...values: (string | number)[]): string;
}

/** Translates nothing, for agents and programs. */
export const ENGLISH: Translator = {
  language: 'en',
  t: (text, ...values) => text.replaceAll(/\{(\d+)\}/g, (_, index) => String(values[Number(index)])),
};
