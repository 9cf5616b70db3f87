/** The rules of a release, apart from files and the command line. */

export interface Manifest {
  readonly version: string;
  readonly [name: string]: unknown;
}

/** The Marketplace has no pre-release versions such as 1.0.0-beta. By its convention, odd minor versions are pre-releases. */
export const isPreRelease = (version: string): boolean => Number(version.split('.')[1]) % 2 === 1;

/**
 * Returns why this tag can't be released.
 * @param notes the notes of changes that CHANGELOG.md doesn't have yet
 */
export function problemsOf(
  tag: string,
  version: string,
  changelog: string,
  notes: readonly string[],
): string[] {
  const problems: string[] = [];
  if (!/^\d+\.\d+\.\d+$/.test(version))
    problems.push(`package.json: ${version} isn't a version such as 1.2.3`);
  if (tag !== `v${version}`) problems.push(`The tag is ${tag}, but package.json has version ${version}`);
  if (notesOf(version, changelog) === undefined)
    problems.push(`CHANGELOG.md has no changes under [${version}]`);
  if (notes.length > 0) problems.push(`CHANGELOG.md lacks ${notes.join(', ')}. Release by npm version`);
  return problems;
}

/** Returns what CHANGELOG.md says about a version, for the release notes. */
export function notesOf(version: string, changelog: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  return section?.split('\n').slice(1).join('\n').trim() || undefined;
}

/** Adds what depends on the repository. Nothing else may name it, so a fork is released from its own address. */
export function withRepository(manifest: Manifest, repository: string): Manifest {
  return {
    ...manifest,
    repository: { type: 'git', url: `${repository}.git` },
    bugs: { url: `${repository}/issues` },
    homepage: `${repository}#readme`,
    // vsce reads its options from here.
    ...(isPreRelease(manifest.version) && { vsce: { preRelease: true } }),
  };
}

/**
 * Makes the relative links of README.md absolute: the Marketplace shows no files of the package. They lead to the tag, so that
 * they fit the version for which they are shown.
 */
export function withAbsoluteLinks(markdown: string, repository: string, tag: string): string {
  return markdown.replaceAll(/(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)/g, (_all, image, text, file) => {
    const kind = image === '!' ? 'raw' : 'blob';
    return `${image}[${text}](${repository}/${kind}/${tag}/${file})`;
  });
}
