/** The licenses of what a package contains of Postgres. Every program and library must match an entry. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../test/workbench/folders.ts';
import { noticeSection } from './thirdPartyNotices.ts';

interface License {
  readonly title: string;
  /** Relative to the project. */
  readonly file: string;
  /** Paths below the Postgres folder. */
  readonly covers: RegExp;
}

const text = (name: string): string => `scripts/package/licenses/${name}.txt`;

const LICENSES: readonly License[] = [
  {
    title: 'PostgreSQL (postgres/)',
    file: 'media/pg-settings.LICENSE',
    covers:
      /^(?:bin\/(?:postgres|initdb|pg_ctl)(?:\.exe)?|lib\/postgresql\/.+|lib\/[^/]+\.dll|(?:bin|lib)\/libpq\..+)$/,
  },
  { title: 'Snowball (postgres/, dict_snowball)', file: text('snowball'), covers: /\/dict_snowball\./ },
  {
    title: 'OSSP uuid (postgres/, uuid-ossp)',
    file: text('ossp-uuid'),
    covers: /\/(?:uuid-ossp|libossp-uuid)\./,
  },
  { title: 'ICU (postgres/)', file: text('icu'), covers: /\/(?:lib)?icu(?:data|dt|i18n|in|uc)[\d.]/ },
  { title: 'OpenSSL 1.1 (postgres/)', file: text('openssl-1.1'), covers: /\/lib(?:crypto|ssl)\.so\.1\.1$/ },
  {
    title: 'OpenSSL 3 (postgres/)',
    file: text('openssl-3'),
    covers: /\/lib(?:crypto|ssl)(?:\.3\.dylib|-3-x64\.dll)$/,
  },
  { title: 'libxml2 (postgres/)', file: text('libxml2'), covers: /\/libxml2\./ },
  { title: 'libxslt (postgres/)', file: text('libxslt'), covers: /\/libxslt\./ },
  { title: 'XZ Utils, liblzma (postgres/)', file: text('xz'), covers: /\/liblzma\./ },
  { title: 'zlib (postgres/)', file: text('zlib'), covers: /\/(?:libz|zlib1)\./ },
  { title: 'LZ4 (postgres/)', file: text('lz4'), covers: /\/liblz4\./ },
  { title: 'Zstandard (postgres/)', file: text('zstd'), covers: /\/libzstd\./ },
  {
    title: 'MIT Kerberos (postgres/)',
    file: text('krb5'),
    covers: /\/lib(?:com_err|gssapi_krb5|k5crypto|krb5|krb5support)\./,
  },
  {
    title:
      'GNU libiconv and libintl of GNU gettext (postgres/). They are separate, unchanged files that you may replace.\n' +
      'Source code: https://www.gnu.org/software/libiconv/ and https://www.gnu.org/software/gettext/',
    file: text('lgpl-2.1'),
    covers: /\/lib(?:iconv|intl)[.-]/,
  },
  { title: 'winpthreads of mingw-w64 (postgres/)', file: text('winpthreads'), covers: /\/libwinpthread-/ },
];

/** @param binaries paths of programs and libraries. @throws {Error} if one has no license */
export function licensesOf(binaries: readonly string[]): License[] {
  const unknown = binaries.filter((file) => !LICENSES.some(({ covers }) => covers.test(file)));
  if (unknown.length > 0) throw new Error(`Add the license of ${unknown.join(', ')} to postgresLicenses.ts`);
  return LICENSES.filter(({ covers }) => binaries.some((file) => covers.test(file)));
}

export async function postgresNotices(binaries: readonly string[]): Promise<string> {
  const sections = licensesOf(binaries).map(async ({ title, file }) =>
    noticeSection({ title, text: await readFile(path.join(projectRoot, file), 'utf8') }),
  );
  return (await Promise.all(sections)).join('\n');
}
