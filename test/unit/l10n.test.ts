/** Texts and their translations, against the source and against each other. */
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

/** Names and units that German has as they are. */
const SAME = new Set(
  ['Branch', 'Branch {0}', 'Compute', 'Compute {0}', 'Computes', 'Host', 'Hosted Postgres', 'Name…'].concat([
    'Region',
    'max_connections {0}',
    '{0} GB RAM',
    '{0} vCPU',
    '{0}: {1}',
  ]),
);

const commandsIn = (text: string): readonly string[] => text.match(/\]\(command:[^)]*\)/g) ?? [];

describe('The bundle for translators', () => {
  it('holds exactly the texts of the code (npm run l10n writes it)', () => {
    assert.deepEqual(Object.keys(bundle), textsInSource());
  });

  it('holds each text as it is shown without a translation', () => {
    for (const [key, text] of Object.entries(bundle)) assert.equal(text, key);
  });
});

describe('German', () => {
  it('has every text of the code, and none that is gone', () => {
    assert.deepEqual(Object.keys(german).toSorted(), Object.keys(bundle).toSorted());
  });

  it('has every text of the manifest, and none that is gone', () => {
    assert.deepEqual(Object.keys(germanManifest).toSorted(), Object.keys(manifest).toSorted());
  });

  it('has the placeholders of every text', () => {
    for (const [text, translation] of Object.entries(german))
      assert.deepEqual(placeholders(translation), placeholders(text), text);
  });

  it('has the links of every text', () => {
    for (const [key, text] of Object.entries(manifest))
      assert.deepEqual(commandsIn(germanManifest[key] ?? ''), commandsIn(text), key);
  });

  it('is a translation', () => {
    const pairs = [
      ...Object.entries(german),
      ...Object.entries(manifest).map(([key, text]) => [text, germanManifest[key]] as const),
    ];
    const left = pairs.filter(([text, translation]) => text === translation && !SAME.has(text));
    assert.deepEqual(left, []);
  });

  it('is typeset as German is: its quotation marks, its ellipsis', () => {
    for (const text of [...Object.values(german), ...Object.values(germanManifest)]) {
      assert.doesNotMatch(text, /“[^”]*”|"|\.\.\.(?!\/)/, text);
      assert.equal(text.match(/„/g)?.length, text.match(/“/g)?.length, text);
    }
  });
});
