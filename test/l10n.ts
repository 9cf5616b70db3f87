// `npm run l10n`: writes the texts in the code to l10n/bundle.l10n.json and lists missing and stale translations. Writes what
// package.json says of the tools for agents, from their table.
import { writeFile } from 'node:fs/promises';
import manifest from '../package.json' with { type: 'json' };
import { bundleFile, readTexts, textsInSource } from './helpers/l10nTexts.ts';
import { describedTools } from './helpers/toolManifest.ts';

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

manifest.contributes.languageModelTools = describedTools(manifest.contributes.languageModelTools);
await writeFile('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
