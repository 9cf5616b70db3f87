import assert from 'node:assert/strict';
import { readText } from '../helpers/projectFiles.ts';
import {
  isPreRelease,
  notesOf,
  problemsOf,
  withAbsoluteLinks,
  withRepository,
} from '../../scripts/release/release.ts';

const REPOSITORY = 'https://example.com/owner/name';
const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n\n### Fixed\n\n- A fix.\n\n## [1.1.0]\n\nFirst.\n';

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
    assert.deepEqual(problemsOf('v1.2.0', '1.2.0', CHANGELOG), []);
    assert.deepEqual(problemsOf('v1.3.0', '1.2.0', CHANGELOG), [
      'The tag is v1.3.0, but package.json has version 1.2.0',
    ]);
    assert.deepEqual(problemsOf('1.2.0', '1.2.0', CHANGELOG), [
      'The tag is 1.2.0, but package.json has version 1.2.0',
    ]);
    assert.deepEqual(problemsOf('v1.3.0', '1.3.0', CHANGELOG), ['CHANGELOG.md has no changes under [1.3.0]']);
    assert.deepEqual(problemsOf('v1.2.0-beta', '1.2.0-beta', CHANGELOG), [
      "package.json: 1.2.0-beta isn't a version such as 1.2.3",
      'CHANGELOG.md has no changes under [1.2.0-beta]',
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
