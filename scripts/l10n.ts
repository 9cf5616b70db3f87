// `npm run l10n`: writes the texts in the code to l10n/bundle.l10n.json and lists missing and stale translations.
import { writeFile } from 'node:fs/promises';
import { bundleFile, readTexts, textsInSource } from '../test/helpers/l10nTexts.ts';

const texts = textsInSource();
await writeFile(
  bundleFile(),
  `${JSON.stringify(Object.fromEntries(texts.map((text) => [text, text])), null, 2)}\n`,
);
const german = readTexts(bundleFile('de'));
const missing = texts.filter((text) => german[text] === undefined);
const stale = Object.keys(german).filter((text) => !texts.includes(text));
console.log(`${texts.length} texts; German: ${missing.length} missing, ${stale.length} stale`);
for (const text of missing) console.log(`+ ${JSON.stringify(text)}`);
for (const text of stale) console.log(`- ${JSON.stringify(text)}`);
