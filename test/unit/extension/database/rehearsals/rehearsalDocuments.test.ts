import assert from 'node:assert/strict';
import { RehearsalDocuments } from '../../../../../src/extension/database/rehearsals/rehearsalDocuments.ts';

describe('RehearsalDocuments', () => {
  it('keeps the last twenty, each with its title', () => {
    const documents = new RehearsalDocuments();
    const uris = Array.from({ length: 21 }, (_, index) => documents.add(`a/b ${index}`, `text ${index}`));
    assert.equal(uris[20]?.path, '/a∕b 20.md');
    assert.deepEqual(
      [uris[0], uris[1], uris[20]].map((uri) => uri && documents.text(uri)),
      [undefined, 'text 1', 'text 20'],
    );
  });

  it('gives each its own address, also in another window', () => {
    const [first, second] = [new RehearsalDocuments(), new RehearsalDocuments()];
    assert.notDeepEqual(first.add('a', 'text'), second.add('a', 'text'));
  });
});
