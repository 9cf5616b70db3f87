/** The texts that the code passes to `vscode.l10n`, which are the keys of a bundle. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';
import { projectFiles, readText } from './projectFiles.ts';

export const bundleFile = (language = ''): string =>
  path.join(projectRoot, 'l10n', `bundle.l10n${language && `.${language}`}.json`);
export const manifestTextsFile = (language = ''): string =>
  path.join(projectRoot, `package.nls${language && `.${language}`}.json`);

export const readTexts = (file: string): Record<string, string> => JSON.parse(readFileSync(file, 'utf8'));

const CALL = /\bl10n\.t\(/g;
const LITERAL = /\bl10n\.t\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g;

/** Sorted and unique. @throws {Error} for a text that is not a single literal: it would be missing in the bundle */
export function textsInSource(): readonly string[] {
  const texts = new Set<string>();
  for (const file of projectFiles('src', '.ts')) {
    const source = readText(file);
    const found = [...source.matchAll(LITERAL)];
    if (found.length !== (source.match(CALL)?.length ?? 0))
      throw new Error(`${file} passes something other than a literal to l10n.t`);
    for (const [, single, double] of found) texts.add(valueOf(single ?? double ?? ''));
  }
  return [...texts].sort();
}

const valueOf = (literal: string): string =>
  JSON.parse(`"${literal.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"')}"`);

/** Placeholders such as `{0}`, sorted, with duplicates. */
export const placeholders = (text: string): readonly string[] => (text.match(/\{\d+\}/g) ?? []).sort();
