import assert from 'node:assert/strict';
import { assertLinear } from '../../../helpers/assertLinear.ts';
import { extensionsInCode } from '../../../../src/base/sql/extensionsInCode.ts';

/** By tool: a migration, and what it creates. */
const MIGRATIONS: Readonly<Record<string, readonly [text: string, names: readonly string[]]>> = {
  Rails: [
    'class Init < ActiveRecord::Migration[8.0]\n  def change\n    enable_extension \'vector\'\n    enable_extension("uuid-ossp")\n  end\nend',
    ['vector', 'uuid-ossp'],
  ],
  'schema.rb': ['  enable_extension "pg_catalog.plpgsql"\n  enable_extension "citext"', ['citext']],
  TypeORM: [
    'await queryRunner.query(`CREATE EXTENSION IF NOT EXISTS "uuid-ossp"`);\nawait queryRunner.query("CREATE EXTENSION IF NOT EXISTS \\"vector\\"");',
    ['uuid-ossp', 'vector'],
  ],
  'Knex by SQL': [
    "exports.up = (knex) => knex.raw('create extension if not exists pgcrypto');",
    ['pgcrypto'],
  ],
  Knex: [
    "await knex.schema.createExtensionIfNotExists('hstore').createExtension('ltree');",
    ['hstore', 'ltree'],
  ],
  'node-pg-migrate': [
    "pgm.createExtension('postgis', { ifNotExists: true });\npgm.createExtension(['cube']);",
    ['postgis', 'cube'],
  ],
  Kysely: ['await sql`create extension vector`.execute(db);', ['vector']],
  Drizzle: ['await db.execute(sql`\n  CREATE EXTENSION IF NOT EXISTS vector;\n`);', ['vector']],
  Sequelize: [
    'await queryInterface.sequelize.query(\'CREATE EXTENSION IF NOT EXISTS "postgis";\');',
    ['postgis'],
  ],
  Django: [
    'operations = [CreateExtension(\'hypopg\'), CreateExtension(name="ip4r"), VectorExtension(), TrigramExtension()]',
    ['hypopg', 'ip4r', 'vector', 'pg_trgm'],
  ],
  Alembic: [
    'op.execute(\'CREATE EXTENSION IF NOT EXISTS vector\')\nop.execute("""create extension hll""")',
    ['vector', 'hll'],
  ],
  Prisma: [
    'datasource db {\n  provider   = "postgresql"\n  extensions = [vector, uuidOssp(map: "uuid-ossp"), postgis(version: "3.5", schema: "geo")]\n}',
    ['vector', 'uuid-ossp', 'postgis'],
  ],
  Laravel: [
    "DB::statement('CREATE EXTENSION IF NOT EXISTS vector');\nSchema::ensureExtensionExists('h3');",
    ['vector', 'h3'],
  ],
  Ecto: ['execute "CREATE EXTENSION IF NOT EXISTS citext", "DROP EXTENSION citext"', ['citext']],
  'EF Core': ['migrationBuilder.Sql("CREATE EXTENSION IF NOT EXISTS \\"postgis\\";");', ['postgis']],
};

describe('extensionsInCode', () => {
  for (const [tool, [text, names]] of Object.entries(MIGRATIONS))
    it(`finds those of ${tool}`, () => assert.deepEqual(extensionsInCode(text), names));

  it('finds none without one', () => {
    for (const text of [
      '',
      'drop extension vector',
      'create extensions',
      'disable_extension "vector"',
      'vscode.extensions = [a]; const x = createExtension(name);',
      'class MyVectorExtension(Base): pass',
    ])
      assert.deepEqual(extensionsInCode(text), [], text);
  });

  it('takes time in proportion to the text', () => {
    for (const part of [
      'create extension ',
      'extensions = [',
      '\nextensions = [a(',
      ' ',
      '\n',
      'create ',
      '"',
    ])
      assertLinear(part, 50_000, (text) => void extensionsInCode(text));
  });
});
