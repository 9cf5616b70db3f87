/** Which command lines may change a schema or replace data, so that Undo names the moment before them. */

/** The last group of words says what the program does. Before it may be options and arguments, such as the URL of a database. */
const PROGRAMS: readonly RegExp[] = [
  /prisma (?:migrate [a-z]+|db (?:push|execute|seed))/,
  /drizzle-kit (?:push|migrate|drop)/,
  /(?:knex|mikro-orm) (?:migrate|migration|seed|schema):[a-z]+/,
  /sequelize(?:-cli)? db:[a-z:]+/,
  /typeorm(?:-ts-node-[a-z]+)? (?:migration:(?:run|revert)|schema:(?:sync|drop))/,
  /node-pg-migrate (?:up|down|redo)/,
  /supabase (?:db (?:reset|push)|migration (?:up|down))/,
  /(?:rails|rake) db:[a-z:]+/,
  /manage\.py (?:migrate|flush|loaddata)/,
  /artisan (?:migrate(?::[a-z]+)?|db:[a-z]+)/,
  /alembic (?:upgrade|downgrade)/,
  /(?:flyway|liquibase) (?:migrate|clean|undo|update|rollback|drop-all)/,
  /(?:dbmate|goose|tern|sqitch|atlas|migrate) (?:(?:"[^"]*"|'[^']*'|[^|;&"'])* )?(?:up|down|drop|reset|rollback|migrate|deploy|revert|apply)\b/,
  /(?:sqlx migrate|diesel migration) (?:run|revert|redo)/,
  /(?:npm|pnpm|yarn|bun) (?:run )?[\w:-]*(?:migrat|seed|schema|db:|reset)[\w:-]*/,
  /(?:dropdb|pg_restore)\b/,
];

/**
 * @returns such as `prisma migrate dev`, or undefined for other programs. Contains no secret: from the first option or argument
 * that isn't a plain word, only what the program does is left, as in `goose postgres … up`
 */
export function migrationProgram(commandLine: string): string | undefined {
  const line = commandLine.replace(/\s+/g, ' ');
  for (const program of PROGRAMS) {
    const found = new RegExp(`(?:^|[\\s/;&|(])(${program.source})`).exec(line)?.[1];
    if (found !== undefined) return found.replace(/ (?![a-z][\w-]* ).* /, ' … ').slice(0, 80);
  }
  return /(?:^|[\s/;&|(])psql\b.*(?: -f | --file[= ]|<)/.test(line) ? 'psql -f' : undefined;
}
