/** The documents against the repository: links, files and scripts that they name. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectFiles, readText } from '../helpers/projectFiles.ts';
import { projectRoot } from '../workbench/folders.ts';

const DOCUMENTS = [
  'AGENTS.md',
  'README.md',
  'CHANGELOG.md',
  '.changes/README.md',
  '.github/CONTRIBUTING.md',
  'docs/ARCHITECTURE.md',
  'docs/MEASUREMENTS.md',
  '.github/SECURITY.md',
  ...[
    'agents',
    'browse-and-change',
    'clients',
    'commands-and-settings',
    'extensions',
    'git-branches',
    'local-service',
    'security',
    'windows-under-wine',
  ].map((name) => `docs/${name}.md`),
  ...projectFiles('docs/decisions'),
];
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readText('package.json'));
const files = ['src', 'test', 'scripts', 'l10n']
  .flatMap((folder) => projectFiles(folder))
  .map((file) => `/${file}`);

for (const document of DOCUMENTS) {
  describe(document, () => {
    const text = readText(document);

    it('has only links to files that exist', () => {
      const links = [...text.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, link = '']) => link);
      const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => `#${anchorOf(title)}`);
      const isMissing = (link: string) =>
        link.startsWith('#')
          ? !headings.includes(link)
          : !existsSync(path.join(projectRoot, path.dirname(document), link));
      assert.deepEqual(links.filter(isMissing), []);
    });

    it('names only source files that exist', () => {
      // Most are named by the end of their path, such as `http/server.ts`.
      const names = [...text.matchAll(/(?<![*}])[\w./-]+\.tsx?\b/g)].map(([name]) => name);
      const isMissing = (name: string) =>
        !files.some((file) => file.endsWith(`/${name.replace(/^\.\//, '')}`));
      const placeholders = ['./file.ts'];
      assert.deepEqual(
        names.filter((name) => !placeholders.includes(name) && isMissing(name)),
        [],
      );
    });

    it('names only folders of the source that exist', () => {
      const names = [...text.matchAll(/`((?:src|test|scripts|l10n)(?:\/[\w-]+)*)\/?`/g)].map(
        ([, name = '']) => name,
      );
      assert.deepEqual(
        names.filter((name) => !existsSync(path.join(projectRoot, name))),
        [],
      );
    });

    it('names only npm scripts that exist', () => {
      const names = [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name);
      assert.deepEqual(
        names.filter((name) => scripts[name] === undefined),
        [],
      );
    });
  });
}

/** As GitHub makes it from a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

describe('Comments', () => {
  it('name only source files that exist', () => {
    const isComment = (line: string) => /^\s*(?:\/\*\*?|\*|\/\/) /.test(line);
    const wrong = files
      .filter((file) => /\.m?ts$/.test(file))
      .flatMap((file) => {
        const comments = readText(file.slice(1)).split('\n').filter(isComment).join('\n');
        const names = [...comments.matchAll(/(?<![*}\w./-])[\w./-]+\.m?ts\b/g)].map(([name]) => name);
        return names
          .filter((name) => !files.some((each) => each.endsWith(`/${name.replace(/^\.*\//, '')}`)))
          .map((name) => `${file.slice(1)}: ${name}`);
      });
    assert.deepEqual(wrong, []);
  });
});

describe('The index of decisions', () => {
  it('has each decision once, with its title', () => {
    const titles = projectFiles('docs/decisions')
      .filter((file) => !file.endsWith('/README.md'))
      .map((file) => `[${/^# (.*)/.exec(readText(file))?.[1]}](${path.basename(file)})`);
    const index = readText('docs/decisions/README.md').matchAll(/^- (\[.*\]\(.*\))$/gm);
    assert.deepEqual([...index].map(([, entry]) => entry).toSorted(byFile), titles.toSorted(byFile));
  });
});

const byFile = (a = '', b = ''): number => a.replace(/.*\(/, '').localeCompare(b.replace(/.*\(/, ''));

describe('README.md', () => {
  it('is short', () => {
    assert.ok(readText('README.md').trim().split(/\s+/).length <= 700);
  });
});
