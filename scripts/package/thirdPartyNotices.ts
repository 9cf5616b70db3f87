// The licenses of what ships and is not ours: packages that are bundled, and texts taken from Postgres.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Where the build writes them, and the package has them. */
export const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt';

/** Files in the package with parts by others, which no bundle describes. Add a license here with every such file. */
export const SHIPPED_FILES = [
  {
    title: 'PostgreSQL (descriptions of settings in media/pg-settings.schema.json)',
    license: 'media/pg-settings.LICENSE',
  },
] as const;

/** esbuild's description of its outputs, as far as it is used here. */
interface Meta {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >;
}

/** @param root the folder that paths are relative to @throws {Error} when a license is missing */
export async function thirdPartyNotices(meta: Meta, root: string): Promise<string> {
  const packages = await Promise.all(
    bundledPackages(meta).map((folder) => noticeOf(path.join(root, folder))),
  );
  const files = await Promise.all(
    SHIPPED_FILES.map(async ({ title, license }) => ({
      title,
      text: await readFile(path.join(root, license), 'utf8'),
    })),
  );
  const sections = [...packages, ...files].map(noticeSection);
  return ['Hosted Postgres includes work by others, under these licenses.\n', ...sections].join('\n');
}

interface Notice {
  readonly title: string;
  readonly text: string;
}

export const noticeSection = ({ title, text }: Notice): string =>
  `${'-'.repeat(80)}\n${title}\n\n${text.trim()}\n`;

/** The folders of the packages that put at least a byte into an output. */
function bundledPackages({ outputs }: Meta): string[] {
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput === 0 ? [] : (PACKAGE.exec(file)?.[0] ?? []),
    ),
  );
  return [...new Set(folders)].toSorted();
}

/** The start of a path up to the innermost package, whose name may have a scope. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Some packages have their license only in the README, as its last section. */
const README_LICENSE = /^#+ *licen[cs]e\s*$([\s\S]*)/im;

export async function noticeOf(folder: string): Promise<Notice> {
  const { name, version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const title = `${name} ${version}`;
  const files = await readdir(folder);
  const license = files.find((file) => /^(?:licen[cs]e|copying)(?:\.|$)/i.test(file));
  if (license !== undefined) return { title, text: await readFile(path.join(folder, license), 'utf8') };
  const readme = files.find((file) => /^readme\.md$/i.test(file));
  const text = readme && README_LICENSE.exec(await readFile(path.join(folder, readme), 'utf8'))?.[1];
  if (!text) throw new Error(`There is no license in ${folder}`);
  return { title, text };
}
