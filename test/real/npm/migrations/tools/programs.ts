/** Projects whose folders only the tool can run. Each creates the table `made`. */
import type { ToolCase } from './cases.ts';

const SQL = 'create table made (id int)';
const uses = (tool: string): string => JSON.stringify({ dependencies: { [tool]: '*' } });
const connection = 'process.env.DATABASE_URL';

export const PROGRAMS: Readonly<Record<string, ToolCase>> = {
  knex: {
    packages: ['knex@3.3.0', 'pg@8.23.1'],
    files: {
      'package.json': uses('knex'),
      'knexfile.js': `module.exports = { client: 'pg', connection: ${connection} };`,
      'migrations/20260101000000_made.js': `exports.up = (knex) => knex.raw('${SQL}'); exports.down = () => {};`,
    },
    command: 'npx knex migrate:latest',
    folder: 'migrations',
  },
  typeorm: {
    packages: ['typeorm@1.1.1', 'reflect-metadata@0.2.2', 'pg@8.23.1'],
    files: {
      'package.json': uses('typeorm'),
      'data-source.js': `const { DataSource } = require('typeorm');
module.exports = new DataSource({ type: 'postgres', url: ${connection}, migrations: ['migrations/*.js'] });`,
      'migrations/1700000000000-made.js': `exports.Made = class Made1700000000000 {
  async up(runner) { await runner.query('${SQL}'); }
  async down() {}
};`,
    },
    command: 'npx typeorm migration:run -d data-source.js',
    folder: 'migrations',
  },
  'mikro-orm': {
    packages: [
      '@mikro-orm/cli@7.2.1',
      '@mikro-orm/postgresql@7.2.1',
      '@mikro-orm/migrations@7.2.1',
      '@mikro-orm/core@7.2.1',
    ],
    files: {
      'package.json': JSON.stringify({ type: 'module', dependencies: { '@mikro-orm/cli': '*' } }),
      'mikro-orm.config.js': `import { defineConfig } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
export default defineConfig({ clientUrl: ${connection}, entities: [], discovery: { warnWhenNoEntities: false }, extensions: [Migrator] });`,
      'migrations/Migration20260101000000.js': `import { Migration } from '@mikro-orm/migrations';
export class Migration20260101000000 extends Migration { up() { this.addSql('${SQL}'); } }`,
    },
    command: 'npx mikro-orm migration:up',
    folder: 'migrations',
  },
  'sequelize-cli': {
    packages: ['sequelize-cli@6.6.5', 'sequelize@6.37.8', 'pg@8.23.1'],
    files: {
      'package.json': uses('sequelize-cli'),
      'config/config.json': JSON.stringify({
        development: { use_env_variable: 'DATABASE_URL', dialect: 'postgres' },
      }),
      'migrations/20260101000000-made.js': `exports.up = (queries) => queries.sequelize.query('${SQL}'); exports.down = () => {};`,
    },
    command: 'npx sequelize-cli db:migrate',
    folder: 'migrations',
  },
  'kysely-ctl': {
    packages: ['kysely-ctl@0.21.0', 'kysely@0.29.6', 'pg@8.23.1'],
    files: {
      'package.json': uses('kysely-ctl'),
      '.config/kysely.config.ts': `import { defineConfig } from 'kysely-ctl';
import { Pool } from 'pg';
export default defineConfig({ dialect: 'pg', dialectConfig: { pool: new Pool({ connectionString: ${connection} }) } });`,
      'migrations/1700000000000_made.ts': `import { sql, type Kysely } from 'kysely';
export const up = (db: Kysely<unknown>) => sql\`${SQL}\`.execute(db);`,
    },
    command: 'npx kysely migrate:latest',
    folder: 'migrations',
  },
  ley: {
    packages: ['ley@0.8.1', 'pg@8.23.1'],
    files: {
      'package.json': uses('ley'),
      'migrations/000-made.js': `exports.up = (client) => client.query('${SQL}');`,
    },
    command: 'npx ley up',
    folder: 'migrations',
  },
  sqitch: {
    packages: ['sqitch 1.3.1'],
    files: {
      'sqitch.conf': '[core]\n\tengine = pg\n[user]\n\tname = A\n\temail = a@b.c\n',
      'sqitch.plan': '%syntax-version=1.0.0\n%project=made\n\nmade 2026-01-01T00:00:00Z A <a@b.c> # one\n',
      'deploy/made.sql': `begin;\n${SQL};\ncommit;\n`,
      'revert/made.sql': 'drop table made;\n',
      'verify/made.sql': 'select 1;\n',
    },
    command: 'sqitch deploy "db:$DATABASE_URL"',
    folder: 'deploy',
  },
  alembic: {
    packages: ['alembic 1.8.1'],
    files: {
      'alembic.ini': '[alembic]\nscript_location = .\n',
      'env.py': `import os, alembic.context as c, sqlalchemy
with sqlalchemy.create_engine(os.environ['DATABASE_URL']).connect() as connection:
    c.configure(connection=connection)
    with c.begin_transaction():
        c.run_migrations()
`,
      'versions/1975ea83b712_made.py': `from alembic import op
revision = '1975ea83b712'
down_revision = None
def upgrade():
    op.execute('${SQL}')
`,
    },
    command: 'alembic upgrade head',
    folder: 'versions',
  },
  django: {
    packages: ['python3-django 3.2'],
    files: {
      'manage.py': `import os
from django.conf import settings
from django.core.management import execute_from_command_line
name = {'NAME': 'PGDATABASE', 'USER': 'PGUSER', 'PASSWORD': 'PGPASSWORD', 'HOST': 'PGHOST', 'PORT': 'PGPORT'}
settings.configure(INSTALLED_APPS=['shop'], DATABASES={'default': {'ENGINE': 'django.db.backends.postgresql', **{key: os.environ[value] for key, value in name.items()}}})
execute_from_command_line(['manage.py', 'migrate'])
`,
      'shop/__init__.py': '',
      'shop/migrations/__init__.py': '',
      'shop/migrations/0001_made.py': `from django.db import migrations
class Migration(migrations.Migration):
    operations = [migrations.RunSQL('${SQL}')]
`,
    },
    command: 'python manage.py migrate',
    folder: 'shop/migrations',
  },
};
