import { env, l10n } from 'vscode';
import type { Translator } from '../../../base/translator.ts';

/** The language of the window, for texts in plain code. */
export const windowTranslator: Translator = { language: env.language, t: l10n.t.bind(l10n) };
