/** Values of `POST /sql`: parameters reach Postgres as they were sent, and results the client as Postgres wrote them. */
import assert from 'node:assert/strict';
import { assertLinear } from '../../../../helpers/assertLinear.ts';
import { jsonValue } from '../../../../../src/service/postgres/serverlessDriver/jsonValues.ts';
import {
  readLogin,
  readSqlRequest,
} from '../../../../../src/service/postgres/serverlessDriver/sqlRequest.ts';

const read = (body: string | Buffer, headers = {}) => readSqlRequest(headers, Buffer.from(body as string));
const paramsOf = (params: string) => read(`{"query":"select 1","params":${params}}`).queries[0]?.params;
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

describe('readSqlRequest', () => {
  for (const [params, wanted] of [
    ['["ä", 1, true, null]', ['ä', '1', 'true', null]],
    ['[12345678901234567890, 0.12345678901234567890, 1e400, 1.10]', null],
    // As Postgres takes them for an integer.
    ['[1.0, 1e3, -20, 9007199254740991.0]', ['1', '1000', '-20', '9007199254740991']],
    ['[{"a":1e400,"b":[1.10,"\\ud800"]}]', ['{"a":1e400,"b":[1.10,"\\ud800"]}']],
    ['[[12345678901234567890, null, ["a"]]]', ['{"12345678901234567890",NULL,{"a"}}']],
  ] as const)
    it(`passes on ${params}`, () => {
      const texts = wanted ?? params.slice(1, -1).split(', ');
      assert.deepEqual(paramsOf(params), texts);
    });

  it('passes on objects of any depth', () => {
    assert.deepEqual(paramsOf(`[{"a":${DEEP}}]`), [`{"a":${DEEP}}`]);
    assert.deepEqual(read(`{"query":"","other":${DEEP}}`).queries[0]?.params, []);
  });

  it('finds the parameters of each query, wherever they are', () => {
    const all = (body: string) => read(body).queries.map(({ params }) => params);
    const one = String.raw` { "query" : "[\"],{" , "\u0070arams" : [ "a]\\" , { "b" : ["}",1.10] } ] } `;
    const params = ['a]\\', '{ "b" : ["}",1.10] }'];
    assert.deepEqual(all(one), [params]);
    assert.deepEqual(all(`{"queries":[{"query":"","params":[2]}],${one.trim().slice(1)}`), [params]);
    assert.deepEqual(all('{"query":"","params":[1],"params":[2,[]]}'), [['2', '{}']]);
    const batch = `{"queries":[${one},{"query":""},{"query":"","params":null},{"query":"","params":[ ]}]}`;
    assert.deepEqual(all(batch), [params, [], [], []]);
  });

  it('takes time in proportion to the length', () => {
    assertLinear(String.raw`[1.5,"\\"],`, 20_000, (text) => paramsOf(`[${text}0]`));
  });

  for (const [what, body, reason] of [
    ['text that is not JSON', '{', /not valid JSON/],
    ['a query that is not text', '{"query":1}', /the body must be/],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), /not valid UTF-8/],
    ['half of a surrogate pair in a query', String.raw`{"query":"'\ud800'"}`, /half of a surrogate pair/],
    ['half of a surrogate pair in a parameter', String.raw`{"query":"","params":["\udc00"]}`, /half/],
    ['half of a surrogate pair in an array', String.raw`{"query":"","params":[["\udc00"]]}`, /half/],
    ['an array of seven dimensions', '{"query":"","params":[[[[[[[[]]]]]]]]}', /more than 6 dimensions/],
    ['an array in 50,000 levels', `{"query":"","params":[${DEEP}]}`, /more than 6 dimensions/],
  ] as const)
    it(`refuses ${what}`, () => assert.throws(() => read(body), { status: 400, message: reason }));

  it('refuses an unknown isolation', () => {
    const headers = { 'neon-batch-isolation-level': 'Chaos' };
    assert.throws(() => read('{"queries":[]}', headers), { status: 400, message: /Chaos/ });
  });
});

describe('readLogin', () => {
  for (const [uri, reason] of [
    [undefined, /header Neon-Connection-String is missing/],
    ['nonsense', /not valid/],
    ['postgresql://a:%ff@h/app', /not valid/],
    ['postgresql://app_owner@h/app', /no password/],
  ] as const)
    it(`refuses ${uri}`, () => {
      assert.throws(() => readLogin({ 'neon-connection-string': uri }), { status: 400, message: reason });
    });
});

describe('jsonValue', () => {
  for (const [oid, text, json] of [
    [114, '12345678901234567890', '12345678901234567890'],
    [114, '{"a": 1e400}', '{"a": 1e400}'],
    [3802, '[1.10]', '[1.10]'],
    [199, '{"{\\"a\\":1e400}",NULL,"null"}', '[{"a":1e400},null,null]'],
    [1022, '[0:0][1:2]={{1e-07,NaN}}', '[[1e-07,"NaN"]]'],
    [701, '-Infinity', '"-Infinity"'],
    [701, '1e+20', '1e+20'],
    [23, '-5', '-5'],
    [20, '9007199254740993', '"9007199254740993"'],
    [1016, '{1,NULL}', '["1",null]'],
    [1009, '{"a\\"b",NULL,"NULL"}', String.raw`["a\"b",null,"NULL"]`],
    [16, 'f', 'false'],
    [25, 'x"', String.raw`"x\""`],
    [25, null, 'null'],
  ] as const)
    it(`of type ${oid} returns ${json} for ${text}`, () => assert.equal(jsonValue(text, oid), json));
});
