/** Which extensions a migration creates that isn't a SQL file. */

/** SQL in a string of any language. A quote may be escaped. */
const IN_STRING = /\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?[\\"'`]*([a-z_][\w-]*)/gi;

/** `enable_extension 'x'` of Rails, `createExtension('x')` of Knex and node-pg-migrate, `CreateExtension('x')` of Django. */
const CALL =
  /\b(?:enable_extension|create_?extension(?:ifnotexists)?|ensureextensionexists)[\s([]+(?:name\s*=\s*)?["']([a-z_][\w-]*)["']/gi;

/** Operations of Django and of pgvector for it. */
const DJANGO: Readonly<Record<string, string>> = {
  BloomExtension: 'bloom',
  BtreeGinExtension: 'btree_gin',
  BtreeGistExtension: 'btree_gist',
  CITextExtension: 'citext',
  CryptoExtension: 'pgcrypto',
  HStoreExtension: 'hstore',
  TrigramExtension: 'pg_trgm',
  UnaccentExtension: 'unaccent',
  VectorExtension: 'vector',
};
const DJANGO_CALL = new RegExp(`\\b(${Object.keys(DJANGO).join('|')})\\(`, 'g');

/** `extensions = [vector, uuid_ossp(map: "uuid-ossp")]` in a schema of Prisma. */
const PRISMA_LIST = /^[ \t]*extensions[ \t]*=[ \t]*\[([^\]]{0,2000})\]/gm;
const PRISMA_ITEM = /(\w+)(?:\s*\(([^)]*)\))?/g;
const PRISMA_NAME = /\bmap\s*:\s*"([^"]+)"/;

/** @returns names in no order. A comment or a text can look the same, so some may not be created */
export function extensionsInCode(text: string): string[] {
  const names = [IN_STRING, CALL].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name.toLowerCase()),
  );
  const django = [...text.matchAll(DJANGO_CALL)].flatMap(([, name = '']) => DJANGO[name] ?? []);
  const prisma = [...text.matchAll(PRISMA_LIST)].flatMap(([, list = '']) =>
    [...list.matchAll(PRISMA_ITEM)].map(
      ([, name = '', options = '']) => PRISMA_NAME.exec(options)?.[1] ?? name,
    ),
  );
  return [...new Set([...names, ...django, ...prisma])];
}
