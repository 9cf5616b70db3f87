// `npm run l10n`: writes the texts in the code to l10n/bundle.l10n.json and lists missing and stale translations.
// `npm run l10n -- --table` prints the questions, failures and other sentences in English and German, to be read as a whole.
import { writeFile } from 'node:fs/promises';
import { bundleFile, readTexts, textsInSource } from '../test/helpers/l10nTexts.ts';

const texts = textsInSource();
const german = readTexts(bundleFile('de'));

const KINDS = [
  ['question', /\?$/],
  ['failure', /^Couldn't |\b(?:can't|failed|isn't|no longer)\b/],
  ['sentence', /[.:]$|\. /],
  // Such as “Created {0}”.
  ['result', /^[A-Z]\w+(?:ed|ing|ote)\b/],
] as const;

function printTable(): void {
  const row = (...cells: readonly string[]) =>
    console.log(`| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`);
  row('kind', 'English', 'German');
  console.log('|---|---|---|');
  const kindOf = (text: string) => KINDS.find(([, form]) => form.test(text))?.[0];
  for (const [kind] of KINDS)
    for (const text of texts) if (kindOf(text) === kind) row(kind, text, german[text] ?? '');
}

async function updateBundle(): Promise<void> {
  const bundle = Object.fromEntries(texts.map((text) => [text, text]));
  await writeFile(bundleFile(), `${JSON.stringify(bundle, null, 2)}\n`);
  const missing = texts.filter((text) => german[text] === undefined);
  const stale = Object.keys(german).filter((text) => !texts.includes(text));
  console.log(`${texts.length} texts; German: ${missing.length} missing, ${stale.length} stale`);
  for (const text of missing) console.log(`+ ${JSON.stringify(text)}`);
  for (const text of stale) console.log(`- ${JSON.stringify(text)}`);
}

if (process.argv.includes('--table')) printTable();
else await updateBundle();
