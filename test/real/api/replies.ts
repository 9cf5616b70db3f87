/** Generates replies of a faulty service: good records with an odd field, any JSON, and text that is not JSON. */
import fc from '../../helpers/fastCheck.ts';

type Json = Readonly<Record<string, unknown>>;

/** A valid record with this id. */
export type Good = (id: number) => Json;

const TIME = '2026-01-02T03:04:05Z';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';

export const goodKey: Good = (id) => ({ id, name: `key ${id}`, created_at: TIME, last_used_at: null });
export const goodProject: Good = (id) => ({
  id: `project-${id}`,
  name: 'shop',
  pg_version: 18,
  locked: false,
});
export const goodCompute: Good = (id) => ({
  id: `ep-${id}`,
  host: `ep-${id}.example`,
  project_id: 'project-1',
  branch_id: 'br-main',
  type: 'read_write',
  current_state: 'active',
  autoscaling_limit_min_cu: 0.25,
  settings: { pg_settings: { work_mem: '4MB' } },
});
export const goodOperation: Good = () => ({
  id: UUID,
  project_id: 'project-1',
  endpoint_id: 'ep-1',
  action: 'start_compute',
  status: 'running',
  failures_count: 0,
});

/** Values that are dangerous in some place: as a property name, an id, a name or a number. */
const hostileValues: unknown[] = [
  null,
  '',
  '../../api_keys',
  'ep-1/../..',
  'ep-\u202Egnp',
  '<img src=x onerror=alert(1)>',
  '$(rm -rf ~)',
  '\u0000\r\nx: y',
  'x'.repeat(5000),
  2 ** 53 + 2,
  -1,
  0.1,
  1e308,
  [],
  {},
  [[[[]]]],
  true,
];
const anyValue = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileValues) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const unusualName = fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'length', 'unknown', '');

const corrupted = (good: Good): fc.Arbitrary<unknown> => {
  const fields = Object.keys(good(1));
  return fc
    .record({
      id: fc.integer({ min: 0, max: 40 }),
      field: fc.oneof(fc.constantFrom(...fields), unusualName),
      value: anyValue,
      gone: fc.boolean(),
    })
    .map(({ id, field, value, gone }) => {
      const record: Record<string, unknown> = { ...good(id) };
      if (gone) delete record[field];
      // Like JSON.parse, for which `__proto__` is an ordinary property.
      else Object.defineProperty(record, field, { value, enumerable: true });
      return record;
    });
};

/** A list with a good record at each even index. */
export const mixedList = (
  good: Good,
): fc.Arbitrary<{ readonly goodIds: ReadonlySet<number>; list: unknown[] }> =>
  fc
    .array(fc.record({ id: fc.integer({ min: 100, max: 140 }), bad: fc.oneof(anyValue, corrupted(good)) }), {
      maxLength: 6,
    })
    .map((pairs) => ({
      goodIds: new Set(pairs.map(({ id }) => id)),
      list: pairs.flatMap(({ id, bad }) => [good(id), bad]),
    }));

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constant(200) },
  { weight: 1, arbitrary: fc.constantFrom(201, 204, 302, 304, 400, 401, 404, 405, 423, 429, 500, 502, 503) },
);

const headers = fc.record(
  {
    'content-type': fc.constantFrom('application/json', 'text/html', '', 'a;b;c'),
    'retry-after': fc.constantFrom(
      '1',
      '-1',
      '1e9',
      '99999999999999999999',
      'soon',
      'Wed, 21 Oct 2015 07:28:00 GMT',
    ),
    location: fc.constantFrom('https://other.example/x', '//x', 'javascript:alert(1)', 'http://[', ''),
  },
  { requiredKeys: [] },
);

export interface GeneratedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param shapes bodies similar to what the call expects */
export const replies = (shapes: fc.Arbitrary<unknown>): fc.Arbitrary<GeneratedReply> =>
  fc.record({
    status: statuses,
    headers,
    body: fc.oneof(
      { weight: 6, arbitrary: shapes.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
      { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('', ' ', '\uFEFF', '{', '[1,', '<html>', 'NaN', '"', '['.repeat(5000)),
      },
    ),
  });

/** The reply to a change: a compute and operations, each valid or not. */
export const changeReply = (): fc.Arbitrary<unknown> =>
  fc.record(
    {
      endpoint: fc.oneof(corrupted(goodCompute), anyValue, fc.constant(goodCompute(1))),
      operations: fc.oneof(
        fc.array(fc.oneof(corrupted(goodOperation), anyValue), { maxLength: 3 }),
        anyValue,
      ),
    },
    { requiredKeys: [] },
  );

export const brokenRecord = (good: Good): fc.Arbitrary<unknown> => fc.oneof(corrupted(good), anyValue);
