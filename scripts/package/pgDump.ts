/** pg_dump as WebAssembly, which ships with the Postgres from npm, because that has none. */
import path from 'node:path';
import { projectRoot } from '../../test/workbench/folders.ts';
import { noticeOf, noticeSection } from './thirdPartyNotices.ts';

const PACKAGE = path.join(projectRoot, 'node_modules/@electric-sql/pglite-tools');

/** Their paths, by name. */
export const PG_DUMP = ['pg_dump.cjs', 'pg_dump.wasm'].map(
  (name) => [name, path.join(PACKAGE, 'dist', name)] as const,
);

export const pgDumpNotice = async (): Promise<string> => noticeSection(await noticeOf(PACKAGE));
