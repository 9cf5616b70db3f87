/** Compares texts and their translations with the source and with each other. */
import assert from 'node:assert/strict';
import {
  bundleFile,
  manifestTextsFile,
  placeholders,
  readTexts,
  textsInSource,
} from '../helpers/l10nTexts.ts';

const [bundle, german] = [readTexts(bundleFile()), readTexts(bundleFile('de'))];
const [manifest, germanManifest] = [readTexts(manifestTextsFile()), readTexts(manifestTextsFile('de'))];

/** Names and units that are the same in German. */
const SAME = new Set(
  ['Branch', 'Branch {0}', 'Compute', 'Compute {0}', 'Computes', 'Host', 'Hosted Postgres', 'Name…'].concat([
    'Region',
    'Snapshot {0}',
    'Snapshots',
    'View {0}',
    'max_connections {0}',
    '{0} GB RAM',
    '{0} vCPU',
    '{0}: {1}',
  ]),
);

const commandsIn = (text: string): readonly string[] => text.match(/\]\(command:[^)]*\)/g) ?? [];

describe('The bundle for translators', () => {
  it('has exactly the texts in the code (npm run l10n writes it)', () => {
    assert.deepEqual(Object.keys(bundle), textsInSource());
  });

  it('maps each text to itself', () => {
    for (const [key, text] of Object.entries(bundle)) assert.equal(text, key);
  });
});

describe('German', () => {
  it('has exactly the texts in the code', () => {
    assert.deepEqual(Object.keys(german).toSorted(), Object.keys(bundle).toSorted());
  });

  it('has exactly the texts of the manifest', () => {
    assert.deepEqual(Object.keys(germanManifest).toSorted(), Object.keys(manifest).toSorted());
  });

  it('keeps all placeholders', () => {
    for (const [text, translation] of Object.entries(german))
      assert.deepEqual(placeholders(translation), placeholders(text), text);
  });

  it('keeps all links', () => {
    for (const [key, text] of Object.entries(manifest))
      assert.deepEqual(commandsIn(germanManifest[key] ?? ''), commandsIn(text), key);
  });

  it('quotes the name of a command whose ellipsis is inside a sentence', () => {
    const texts = [...Object.values(german), ...Object.values(germanManifest)];
    for (const text of texts) assert.doesNotMatch(text, /\p{L}…\s+\p{L}/u);
  });

  it('differs from the English text', () => {
    const pairs = [
      ...Object.entries(german),
      ...Object.entries(manifest).map(([key, text]) => [text, germanManifest[key]] as const),
    ];
    const left = pairs.filter(([text, translation]) => text === translation && !SAME.has(text));
    assert.deepEqual(left, []);
  });

  it('uses one word for a password, an id and a compute, and no space before an ellipsis', () => {
    for (const text of [...Object.values(german), ...Object.values(germanManifest)])
      assert.doesNotMatch(text, /Passw[oö]rt|\bIds?\b|\b(kein|das) Compute\b| …/, text);
  });

  it('uses German quotation marks and an ellipsis character', () => {
    for (const text of [...Object.values(german), ...Object.values(germanManifest)]) {
      assert.doesNotMatch(text, /“[^”]*”|"|\.\.\.(?!\/)/, text);
      assert.equal(text.match(/„/g)?.length, text.match(/“/g)?.length, text);
    }
  });
});
