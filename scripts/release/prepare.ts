// Prepares a checkout for packaging a release. Run it again with the same arguments to build the same packages:
//   node scripts/release/prepare.ts TAG REPOSITORY     such as v1.2.0 https://github.com/owner/name
// Fails unless tag, package.json and CHANGELOG.md name the same version and no note is left in .changes. Writes the address of the repository to package.json
// and README.md, and the notes of the release to release-notes.md. In a workflow, sets the output `prerelease`.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { noteFiles } from './notes.ts';
import { isPreRelease, notesOf, problemsOf, withAbsoluteLinks, withRepository } from './release.ts';

const [tag = '', repository = ''] = process.argv.slice(2);
if (!/^https:\/\/[\w.-]+(\/[\w.-]+)+$/.test(repository)) throw new Error(`Not a repository: ${repository}`);
const manifest = JSON.parse(await readFile('package.json', 'utf8'));
const changelog = await readFile('CHANGELOG.md', 'utf8');

const problems = problemsOf(tag, manifest.version, changelog, await noteFiles());
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

await writeFile('package.json', `${JSON.stringify(withRepository(manifest, repository), undefined, 2)}\n`);
for (const file of ['README.md', 'CHANGELOG.md'])
  await writeFile(file, withAbsoluteLinks(await readFile(file, 'utf8'), repository, tag));
await writeFile('release-notes.md', `${notesOf(manifest.version, changelog)}\n`);
const outputs = process.env['GITHUB_OUTPUT'];
if (outputs !== undefined) await appendFile(outputs, `prerelease=${isPreRelease(manifest.version)}\n`);
