/** Puts hostile text into every text field of every record of a reply, as far as the client then still reads the record. */
import * as z from 'zod/mini';
import * as records from '../../src/api/records/records.ts';

/** Found in the page if VS Code makes a link or an image of it. */
export const TARGET = 'hosted-postgres-hostile-target';
/** A control and a bidi character. */
export const CONTROL = '\u0007\u202e';

const ATTACKS = [
  `[click](command:${TARGET})`,
  `[web](https://${TARGET}.test)`,
  `![image](https://${TARGET}.test/i.png)`,
  `<img src="https://${TARGET}.test/i.png">`,
  `<a href="command:${TARGET}">tag</a>`,
  '$(squirrel)',
].join(' ');

/** The original is in it, so that different texts stay different. The second is for fields without control characters. */
const hostileTexts = (original: string): readonly [string, string] => {
  const text = `${ATTACKS} ${original} `;
  return [`${text}${CONTROL}${'x'.repeat(4096)}`.slice(0, 4096), text];
};

/** Ids lead to other records, and a status says when to stop asking for an operation. No compute can be restarted while it changes. */
const KEPT = new Set(['id', 'project_id', 'branch_id', 'endpoint_id', 'status', 'pending_state']);

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const RECORDS = Object.values(records).filter((record) => record instanceof z.ZodMiniObject);

export function hostileReply(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(hostileReply);
  if (!isFields(reply)) return reply;
  const copy: Fields = Object.fromEntries(
    Object.entries(reply).map(([name, value]) => [
      name,
      name === 'pg_settings' && isFields(value) ? hostileSettings(value) : hostileReply(value),
    ]),
  );
  const record = recordOf(reply);
  // The body of an error.
  if (typeof reply['message'] === 'string' && record === undefined)
    for (const name of ['message', 'code', 'request_id']) copy[name] = hostileTexts(name)[0];
  // Also fields that this service leaves out.
  for (const name of Object.keys(record?.shape ?? {})) {
    const before = copy[name];
    if (KEPT.has(name) || (typeof before === 'object' && before !== null)) continue;
    const isAccepted = (text: string) => record?.safeParse({ ...reply, [name]: text }).success;
    const hostile = hostileTexts(typeof before === 'string' ? before : name).find(isAccepted);
    if (hostile !== undefined) copy[name] = hostile;
  }
  return copy;
}

/** Returns the record type that accepts the reply and has most of its fields. */
function recordOf(reply: Fields) {
  const known = ({ shape }: (typeof RECORDS)[number]) =>
    Object.keys(reply).filter((name) => name in shape).length;
  const rank = (record: (typeof RECORDS)[number]) => known(record) * 100 - Object.keys(record.shape).length;
  return RECORDS.filter((record) => record.safeParse(reply).success).toSorted((a, b) => rank(b) - rank(a))[0];
}

const hostileSettings = (settings: Fields): Fields =>
  Object.fromEntries(
    ['work_mem', ...Object.keys(settings)].map((name) => [hostileTexts(name)[1], hostileTexts(name)[0]]),
  );
