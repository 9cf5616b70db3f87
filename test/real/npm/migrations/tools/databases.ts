/** Databases of a local service, and all that one of them contains as text. */
import { branchCalls } from '../../../../helpers/branchCalls.ts';
import { call } from '../../../../helpers/call.ts';
import { startLocalService } from '../../../../helpers/localService.ts';
import { query } from '../../../service/postgres/clients.ts';
import { PROJECT } from '../../../service/controlPlane/sampleProject.ts';

export interface Database {
  readonly url: string;
  /** Returns the schema that pg_dump writes. */
  readonly schema: () => Promise<string>;
}

export interface Databases {
  readonly create: () => Promise<Database>;
  readonly stop: () => Promise<unknown>;
}

export async function startDatabases(): Promise<Databases> {
  const service = await startLocalService({});
  const api = branchCalls(service);
  const created = await api.createBranch(PROJECT);
  const uri = api.uri(created);
  let count = 0;
  return {
    create: async () => {
      const name = `migrations_${(count += 1)}`;
      await query(uri, `create database ${name}`);
      const address = `/projects/${PROJECT}/branches/${created.branch.id}/schema?db_name=${name}`;
      return {
        url: Object.assign(new URL(uri), { pathname: name }).href,
        schema: async () => {
          const { json } = await call(service.baseUrl, { path: address, key: service.key });
          return (json as { sql: string }).sql;
        },
      };
    },
    stop: async () => service.stop(),
  };
}

/** The schema as pg_dump writes it, and all rows. */
export async function contentOf({ url, schema }: Database): Promise<string> {
  const statements = (await schema()).split('\n').filter((line) => !/^(?:--|\\\w|SET |SELECT |$)/.test(line));
  const rows = await query(
    url,
    `select oid::regclass::text || ' ' || coalesce(query_to_xml('select * from ' || oid::regclass || ' order by 1', true, true, '')::text, '')
      from pg_class where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information_schema$)' order by oid::regclass::text`,
  );
  return [
    ...statements,
    ...rows.map((each) => String(each).replaceAll(/ xmlns:xsi="[^"]*"|\n(?=\n|$)/g, '')),
    '',
  ].join('\n');
}
