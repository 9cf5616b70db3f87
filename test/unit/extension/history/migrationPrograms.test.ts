import assert from 'node:assert/strict';
import { migrationProgram } from '../../../../src/extension/history/migrationPrograms.ts';

describe('A command line', () => {
  const rows: readonly (readonly [commandLine: string, program: string | undefined])[] = [
    ['npx prisma migrate dev --name roles', 'prisma migrate dev'],
    ['DATABASE_URL=postgres://a:secret@h/d npx prisma  db push', 'prisma db push'],
    ['pnpm drizzle-kit push --force', 'drizzle-kit push'],
    ['cd api && alembic downgrade base', 'alembic downgrade'],
    ['bin/rails db:migrate:reset', 'rails db:migrate:reset'],
    ['python manage.py migrate', 'manage.py migrate'],
    ['php artisan migrate:fresh --seed', 'artisan migrate:fresh'],
    ['supabase db reset', 'supabase db reset'],
    ['migrate -database postgres://a:secret@h/d -path db up', 'migrate … up'],
    ['goose -dir db postgres "password=secret" reset', 'goose … reset'],
    ['goose postgres "postgres://app:s3cret@localhost/shop?a=b&sslmode=disable" up', 'goose postgres … up'],
    ['goose postgres "user=app password=s3cret dbname=shop" up', 'goose postgres … up'],
    ["goose postgres 'password=s3cret up' down", 'goose postgres … down'],
    ['goose postgres $DATABASE_URL up-to 3', 'goose postgres … up'],
    ['goose mysql app:s3cret@/shop reset', 'goose mysql … reset'],
    ['atlas migrate apply --url postgres://app:s3cret@h/d', 'atlas migrate apply'],
    ['atlas schema apply -u "postgres://app:s3cret@h/d" --to file://a.sql', 'atlas schema apply'],
    ['atlas --env "local" migrate apply', 'atlas … apply'],
    ['dbmate --url "postgres://app:s3cret@h/d" up', 'dbmate … up'],
    ['DATABASE_URL=postgres://app:s3cret@h/d dbmate rollback', 'dbmate rollback'],
    ['tern migrate --password s3cret', 'tern migrate'],
    ['psql "user=app password=s3cret" --file=up.sql', 'psql -f'],
    ['npm run db:reset', 'npm run db:reset'],
    ['yarn migrate', 'yarn migrate'],
    ['psql "$DATABASE_URL" -f drop.sql', 'psql -f'],
    ['psql postgres://a:secret@h/d < drop.sql', 'psql -f'],
    ['dropdb --if-exists app', 'dropdb'],
    ['psql "$DATABASE_URL"', undefined],
    ['npm test', undefined],
    ['git commit -m "prisma"', undefined],
    ['npm run dev', undefined],
    ['vim src/migrate.ts', undefined],
    ['', undefined],
  ];
  for (const [commandLine, program] of rows)
    it(`${program === undefined ? 'is not marked' : `is marked as ${program}`}: ${commandLine}`, () => {
      assert.equal(migrationProgram(commandLine), program);
    });
});
