/** The command line of `npx hosted-postgres`: its own options, and some of the service's. */
import type { RehearsalOptions } from './rehearse.ts';
import { StartError } from '../service/core/serviceErrors.ts';
import { parseOptions, SHARED_OPTIONS } from '../service/options.ts';

export const HELP = `Usage: npx hosted-postgres [options]

Starts the local service with a real Postgres, and prints its base URL and API key.

  --run COMMAND         wait until the database answers, run the command in a shell with DATABASE_URL, NEON_API_HOST,
                        NEON_API_KEY, NEON_PROJECT_ID and NEON_BRANCH_ID, end the service, and exit with its code.
                        The database is that of the default branch of the oldest project
  --temporary           keep the data in a temporary folder, deleted at the end
  --data-dir DIR        all data; default .hosted-postgres in the current folder
  --port N              HTTP port on 127.0.0.1; 0 for any free port; default 8790, or 0 with --run or --temporary
  --api-key KEY         accept this API key. The environment variable HOSTED_POSTGRES_SERVICE_API_KEY does the same.
                        Default: a random key, kept in the data directory
  --projects FILE       JSON with the projects, branches and computes of a new account; default one project
  --plan free|paid      plan limits; default paid
  --operation-delay MS  minimum duration of an operation; default 0
  --no-postgres         computes are simulated and accept no connections
  --postgres-path DIR   directory with postgres and initdb; default the one that npm has installed
  --extensions-dir DIR  more extensions for Postgres 18: control files and scripts in DIR/extension, libraries in DIR/lib;
                        or the folder of an installed Postgres 18. Default: those of any on this machine
  --trust-extension NAME
                        let owners create this one of them although its control file doesn't say so. Postgres runs
                        its script as superuser. May be repeated
  --allow-origin URL    let web pages of this origin, such as http://localhost:3000, use the serverless driver;
                        may be repeated. Without it, no page may
  --help                show this text
`;

export const REHEARSE_HELP = `Usage: npx hosted-postgres rehearse [FOLDER] [--run COMMAND] [options]

Makes a throw-away branch of the data, runs the command there, such as 'npx prisma migrate deploy', and says how long it keeps
others from which tables, what it loses, and where it fails. With a folder of SQL, it says so for each file, and the command is
that of the tool that the folder is for. A folder that is for no tool is run file by file. Exits with 0 if it is safe, 3 if it is dangerous, 1 if it fails.
What the command does outside the database is done for real, and so is what dblink and foreign tables reach.

  --from BRANCH|DUMP    the branch, by name or id; default the default branch of the only project. Or a file or folder that
                        pg_dump has written, which is restored in a temporary folder; archives need pg_restore
  --down COMMAND        takes all of the migration back, and is rehearsed, too; default the one of a tool whose command runs
  --longest-lock MS     how long others may wait for a table; default 1000
  --json                print the report as JSON
  --comment             in GitHub Actions, comment on the pull request with the token of HOSTED_POSTGRES_COMMENT_TOKEN, or
                        change the comment of a run before. The command doesn't get the token
  --account             on a branch of the account of NEON_API_KEY, in the project of NEON_PROJECT_ID: two branches with
                        computes are created, which cost what others cost until they are deleted, or after 30 minutes.
                        NEON_API_HOST is another service's address
  --data-dir DIR        as without rehearse; the options for Postgres and extensions, too
`;

const OPTIONS = { ...SHARED_OPTIONS, run: { type: 'string' }, temporary: { type: 'boolean' } } as const;

/** The options that only `rehearse` has. It has the others, too. */
const REHEARSE_OPTIONS = {
  from: { type: 'string' },
  'longest-lock': { type: 'string' },
  json: { type: 'boolean' },
  down: { type: 'string' },
  account: { type: 'boolean' },
  comment: { type: 'boolean' },
} as const;

/**
 * The options of `rehearse`. With `account`, it runs on a branch of a public account. With `comment`, the report is also a comment on
 * a pull request.
 */
type Rehearsal = Omit<RehearsalOptions, 'run' | 'projectId' | 'token' | 'dump'> &
  Readonly<Record<'account' | 'comment', boolean>>;

/** Reads the command line. The service checks the values of the options that it shares. @throws {StartError} `usage` */
export function readCommandLine(args: readonly string[]) {
  const [word, ...more] = args;
  const isRehearsal = word === 'rehearse';
  const { values, tokens } = isRehearsal
    ? parseOptions(more, { ...OPTIONS, ...REHEARSE_OPTIONS }, { allowPositionals: true })
    : parseOptions(args, OPTIONS);
  const folder = findFolder(tokens);
  const { help = false, run, temporary = false, 'data-dir': dataDir, 'api-key': apiKey, ...others } = values;
  const {
    from,
    json,
    down,
    account,
    comment,
    'longest-lock': limit,
    ...rest
  }: typeof others & RehearseValues = others;
  if (run?.trim() === '') throw new StartError('usage', '--run must not be empty');
  if (temporary && dataDir !== undefined)
    throw new StartError('usage', '--temporary and --data-dir exclude each other');
  const rehearsal =
    isRehearsal && !help
      ? parseRehearsal(
          { command: run, folder },
          { from, json, down, account, comment, 'longest-lock': limit },
        )
      : undefined;
  return {
    help: help && (isRehearsal ? REHEARSE_HELP : HELP),
    run,
    temporary,
    dataDir,
    apiKey,
    rest,
    rehearsal,
  };
}

/**
 * Returns the only word that is no option. A word right after a command is taken for a part of it that lacks quotes, as in
 * `--run npm test`.
 * @throws {StartError} `usage`
 */
function findFolder(tokens: ReturnType<typeof parseOptions>['tokens']): string | undefined {
  const words = tokens.flatMap((token, index) => (token.kind === 'positional' ? [{ ...token, index }] : []));
  for (const { value, index } of words) {
    const before = tokens[index - 1];
    if (before?.kind === 'option' && (before.name === 'run' || before.name === 'down'))
      throw new StartError('usage', `Quote the command of --${before.name}, or put ${value} before it`);
  }
  const [first, second] = words;
  if (second !== undefined)
    throw new StartError('usage', `rehearse takes one folder, but got ${first?.value} and ${second.value}`);
  return first?.value;
}

interface RehearseValues {
  readonly from?: string | undefined;
  readonly json?: boolean | undefined;
  readonly 'longest-lock'?: string | undefined;
  readonly down?: string | undefined;
  readonly account?: boolean | undefined;
  readonly comment?: boolean | undefined;
}

function parseRehearsal(migration: Pick<Rehearsal, 'command' | 'folder'>, values: RehearseValues): Rehearsal {
  const { from, down, json = false, account = false, comment = false, 'longest-lock': limit } = values;
  if (migration.command === undefined && migration.folder === undefined)
    throw new StartError('usage', 'rehearse needs --run COMMAND or a folder');
  if (limit !== undefined && !/^\d+$/.test(limit))
    throw new StartError('usage', '--longest-lock must be a number of milliseconds');
  if (down?.trim() === '') throw new StartError('usage', '--down must not be empty');
  return {
    ...migration,
    from,
    down,
    json,
    account,
    comment,
    longestLock: limit === undefined ? undefined : Number(limit),
  };
}
