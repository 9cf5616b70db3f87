// Makes a project of each migration tool, with one migration that is pending: by the tool's own generator, if it has one that needs no
// answers. For scripts/rehearsedTools.ts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ToolCase } from '../test/real/rehearsal/cases/toolCases.ts';

/** The folder of a project, and what its generator needs. */
class Project {
  readonly #folder: string;
  readonly #url: string;

  /** @param url the URL of a database that generators may read */
  constructor(folder: string, url: string) {
    this.#folder = folder;
    this.#url = url;
  }

  write(name: string, text: string): void {
    mkdirSync(path.dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  path = (name: string): string => path.join(this.#folder, name);

  /** @returns the output */
  run(command: string): string {
    const env = { ...process.env, ...TOOL_ENVIRONMENT, DATABASE_URL: this.#url };
    return execFileSync('/bin/sh', ['-c', command], {
      cwd: this.#folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Changes the only file that has a name. */
  change(folder: string, name: RegExp, change: (text: string) => string): void {
    const [file, ...others] = readdirSync(this.path(folder)).filter((each) => name.test(each));
    assert.ok(file !== undefined && others.length === 0, readdirSync(this.path(folder)).join());
    const whole = path.join(folder, file);
    this.write(whole, change(readFileSync(this.path(whole), 'utf8')));
  }
}

/** For Django. */
export const TOOL_ENVIRONMENT = {
  DJANGO_SETTINGS_MODULE: 'settings',
  PYTHONPATH: '.',
};

type Make<Up = ToolCase['up']> = (project: Project, up: Up) => string;
type Pair = readonly [before: string, after: string];

const DRIZZLE_SCHEMA = (text: string) => `import * as t from 'drizzle-orm/pg-core';\n${text}\n`;
const DJANGO_SETTINGS = `import os
from urllib.parse import urlparse
url = urlparse(os.environ['DATABASE_URL'])
SECRET_KEY = 'it'
INSTALLED_APPS = ['it']
DATABASES = {'default': {'ENGINE': 'django.db.backends.postgresql', 'HOST': url.hostname, 'PORT': url.port,
    'NAME': url.path[1:], 'USER': url.username, 'PASSWORD': url.password}}
`;
/** Without an address of a database, it compares with a file in which the tables are as before. */
const ALEMBIC_ENVIRONMENT = `import os
from alembic import context
from sqlalchemy import create_engine
import before, after
url = os.environ['DATABASE_URL']
if os.environ.get('BEFORE'):
    url = 'sqlite://'
engine = create_engine(url)
with engine.connect() as connection:
    if os.environ.get('BEFORE'):
        before.metadata.create_all(connection)
    context.configure(connection=connection, target_metadata=after.metadata, compare_type=True)
    with context.begin_transaction():
        context.run_migrations()
`;
const ALEMBIC_TABLES = (text: string) => `from sqlalchemy import *\nmetadata = MetaData()\n${text}`;
const RAILS_FILES = {
  'config/application.rb': `require 'rails'
require 'active_record/railtie'
class It < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.active_record.dump_schema_after_migration = false
end
`,
  'config/environment.rb': `require_relative 'application'\nRails.application.initialize!\n`,
  Rakefile: `require_relative 'config/application'\nRails.application.load_tasks\n`,
  'bin/rails': `#!/usr/bin/env ruby
APP_PATH = File.expand_path('../config/application', __dir__)
require 'rails/commands'
`,
};

const fromText: Readonly<Record<string, Make<string>>> = {
  knex: (project, up) => {
    project.write('knexfile.js', `module.exports = { client: 'pg', connection: process.env.DATABASE_URL };`);
    project.write('migrations/20260101000000_it.js', `exports.up = (k) => ${up}; exports.down = () => {};`);
    return 'npx knex migrate:latest';
  },
  'node-pg-migrate': (project, up) => {
    project.write(
      'migrations/1700000000000_it.js',
      `exports.up = (pgm) => { ${up}; }; exports.down = () => {};`,
    );
    return 'npx node-pg-migrate up';
  },
  typeorm: (project, up) => {
    project.write(
      'data-source.js',
      `const { DataSource } = require('typeorm');
module.exports = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, migrations: ['migrations/*.js'] });`,
    );
    project.write(
      'migrations/1700000000000-it.js',
      `const { Table, TableColumn, TableForeignKey, TableIndex } = require('typeorm');
exports.It = class It1700000000000 { async up(runner) { await ${up}; } async down() {} };`,
    );
    return 'npx typeorm migration:run -d data-source.js';
  },
};

const fromPair: Readonly<Record<string, Make<Pair>>> = {
  /** The file before it is taken as applied. */
  drizzle: (project, pair) => {
    project.write(
      'drizzle.config.js',
      `module.exports = { dialect: 'postgresql', schema: './schema.ts', out: './drizzle', dbCredentials: { url: process.env.DATABASE_URL } };`,
    );
    for (const text of pair) {
      project.write('schema.ts', DRIZZLE_SCHEMA(text));
      project.run('npx drizzle-kit generate');
    }
    project.change('drizzle/meta', /^_journal\.json$/, (text) => {
      const content = JSON.parse(text) as { entries: object[] };
      assert.equal(content.entries.length, 2);
      return JSON.stringify({ ...content, entries: content.entries.slice(1) });
    });
    return 'npx drizzle-kit migrate';
  },
  django: (project, pair) => {
    project.write('settings.py', DJANGO_SETTINGS);
    project.write('it/__init__.py', '');
    for (const text of pair) {
      project.write('it/models.py', `from django.db import models\n${text}`);
      project.run('django-admin makemigrations it --no-input');
    }
    return 'django-admin migrate --fake it 0001 && django-admin migrate';
  },
  alembic: (project, [before, after]) => {
    project.run('alembic init alembic');
    project.write('alembic/env.py', ALEMBIC_ENVIRONMENT);
    project.write('before.py', ALEMBIC_TABLES(before));
    project.write('after.py', ALEMBIC_TABLES(after));
    project.run('BEFORE=1 alembic revision --autogenerate -m it');
    return 'alembic upgrade head';
  },
  rails: (project, [named, body]) => {
    for (const [name, text] of Object.entries(RAILS_FILES)) project.write(name, text);
    chmodSync(project.path('bin/rails'), 0o755);
    project.run(`bin/rails generate migration ${named}`);
    if (body !== '')
      project.change('db/migrate', /\.rb$/, (text) =>
        text.replace('  def change\n', `  def change\n    ${body}\n`),
      );
    return 'bin/rails db:migrate';
  },
};

/** @returns the command that applies the migration */
export function makeProject(folder: string, url: string, tool: string, up: ToolCase['up']): string {
  const project = new Project(folder, url);
  project.write('package.json', '{ "type": "commonjs" }');
  const make = typeof up === 'string' ? fromText[tool]?.(project, up) : fromPair[tool]?.(project, up);
  if (make === undefined) throw new Error(`Unknown tool: ${tool}`);
  return make;
}
