import assert from 'node:assert/strict';
import { projectFiles, readText } from '../helpers/projectFiles.ts';
import { parseNote, withNotes } from '../../scripts/release/notes.ts';
import {
  isPreRelease,
  notesOf,
  problemsOf,
  withAbsoluteLinks,
  withRepository,
} from '../../scripts/release/release.ts';

const REPOSITORY = 'https://example.com/owner/name';
const CHANGELOG = '# Changelog\n\n## [1.2.0] (2026-01-31)\n\n### Fixed\n\n- A fix.\n\n## [1.1.0]\n\nFirst.\n';

describe('A release', () => {
  it('is a pre-release if the minor version is odd', () => {
    for (const [version, expected] of [
      ['0.2.0', false],
      ['0.3.7', true],
      ['1.0.1', false],
      ['2.11.0', true],
    ] as const)
      assert.equal(isPreRelease(version), expected, version);
  });

  it('needs the same version in the tag, in package.json and in CHANGELOG.md', () => {
    assert.deepEqual(problemsOf('v1.2.0', '1.2.0', CHANGELOG, []), []);
    assert.deepEqual(problemsOf('v1.3.0', '1.2.0', CHANGELOG, []), [
      'The tag is v1.3.0, but package.json has version 1.2.0',
    ]);
    assert.deepEqual(problemsOf('1.2.0', '1.2.0', CHANGELOG, []), [
      'The tag is 1.2.0, but package.json has version 1.2.0',
    ]);
    assert.deepEqual(problemsOf('v1.3.0', '1.3.0', CHANGELOG, []), [
      'CHANGELOG.md has no changes under [1.3.0]',
    ]);
    assert.deepEqual(problemsOf('v1.2.0-beta', '1.2.0-beta', CHANGELOG, []), [
      "package.json: 1.2.0-beta isn't a version such as 1.2.3",
      'CHANGELOG.md has no changes under [1.2.0-beta]',
    ]);
    assert.deepEqual(problemsOf('v1.2.0', '1.2.0', CHANGELOG, ['.changes/a.md']), [
      'CHANGELOG.md lacks .changes/a.md. Release by npm version',
    ]);
  });

  it('has the changes of its version as notes', () => {
    assert.equal(notesOf('1.2.0', CHANGELOG), '### Fixed\n\n- A fix.');
    assert.equal(notesOf('1.1.0', CHANGELOG), 'First.');
  });

  it('names the repository in the manifest, and that it is a pre-release', () => {
    const address = {
      repository: { type: 'git', url: `${REPOSITORY}.git` },
      bugs: { url: `${REPOSITORY}/issues` },
      homepage: `${REPOSITORY}#readme`,
    };
    assert.deepEqual(withRepository({ name: 'x', version: '1.2.0' }, REPOSITORY), {
      name: 'x',
      version: '1.2.0',
      ...address,
    });
    const { vsce } = withRepository({ version: '1.3.0' }, REPOSITORY);
    assert.deepEqual(vsce, { preRelease: true });
  });

  it('shows the pictures and documents of its tag', () => {
    const text = '![A](media/a.png) [b](.github/B.md), [c](https://c.test/) and [d](#d)';
    assert.equal(
      withAbsoluteLinks(text, REPOSITORY, 'v1.2.0'),
      `![A](${REPOSITORY}/raw/v1.2.0/media/a.png) [b](${REPOSITORY}/blob/v1.2.0/.github/B.md), ` +
        '[c](https://c.test/) and [d](#d)',
    );
    const readme = withAbsoluteLinks(readText('README.md'), REPOSITORY, 'v1.2.0');
    assert.doesNotMatch(readme, /\]\((?!https:)/);
  });
});

describe('A note of a change', () => {
  for (const file of projectFiles('.changes').filter((name) => name !== '.changes/README.md'))
    it(`has the form of all: ${file}`, () => {
      assert.match(file, /^\.changes\/[a-z\d-]+\.md$/);
      parseNote(readText(file));
    });

  it('has the kind and the part of the change in its first line', () => {
    const text = 'A full disk no longer ends\nthe service.';
    assert.deepEqual(parseNote(`Fix (Local service): ${text}\n`), {
      kind: 'Fix',
      part: 'Local service',
      text,
    });
    for (const [wrong, message] of [
      ['A full disk.', /begins as/],
      ['Fix (Agents): no period', /ends with a period/],
      ['Repair (Agents): A text.', /kind is Add, Change, Remove, Fix$/],
      ['Fix (Robots): A text.', /part is View/],
      ['Fix (Agents): One.\nTwo.\nThree.', /2 lines/],
      [`Fix (Agents): ${'long '.repeat(30)}.`, /130 characters/],
    ] as const)
      assert.throws(() => parseNote(wrong), message, wrong);
  });

  it('becomes an entry of the next section of CHANGELOG.md, in the order of kinds and parts', () => {
    const notes = [
      'Fix (Agents): A.',
      'Add (Local service): B\nwith $& in it.',
      'Fix (View, commands and connections): C.',
      'Fix (Agents): D.',
    ].map(parseNote);
    const changelog = withNotes(CHANGELOG, notes, '1.3.0', '2026-02-01');
    assert.equal(
      notesOf('1.3.0', changelog),
      '### Added\n\n**Local service**\n\n- B\n  with $& in it.\n\n' +
        '### Fixed\n\n**View, commands and connections**\n\n- C.\n\n**Agents**\n\n- A.\n- D.',
    );
    assert.match(changelog, /^# Changelog\n\n## \[1\.3\.0\] \(2026-02-01\)\n\n/);
    assert.equal(notesOf('1.2.0', changelog), notesOf('1.2.0', CHANGELOG));
  });
});
