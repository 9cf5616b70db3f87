import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { ApiError } from '../../../../src/api/transport/errors.ts';
import type { Reply } from '../../../../src/api/transport/http.ts';
import { parseList, parseRecord } from '../../../../src/api/transport/parseResponse.ts';

const Thing = z.object({ id: z.string(), size: z.optional(z.number()) });
const reply = (json: unknown, method = 'GET'): Reply => ({
  requestLine: `${method} /x`,
  isChange: method !== 'GET',
  body: '',
  status: 200,
  json,
});

describe('parseList', () => {
  it('reads the reply or a property of it', () => {
    const list = [{ id: 'a' }];
    assert.deepEqual(parseList(reply(list), undefined, Thing).items, list);
    assert.deepEqual(parseList(reply({ things: list }), 'things', Thing).items, list);
  });

  it('reports unreadable records by id and first wrong field', () => {
    const list = [
      { id: 'a' },
      { id: 'b', size: 'big' },
      null,
      { id: 7 },
      { id: 'x'.repeat(200), size: {} },
      'c',
    ];
    const { items, unreadable } = parseList(reply(list), undefined, Thing);
    assert.deepEqual(items, [{ id: 'a' }]);
    assert.deepEqual(unreadable, [
      { id: 'b', field: 'size' },
      { id: undefined, field: 'record' },
      { id: '7', field: 'id' },
      { id: 'x'.repeat(80), field: 'size' },
      { id: undefined, field: 'record' },
    ]);
  });

  it('returns each id once, at its first place with its last record', () => {
    const list = [{ id: 'a', size: 1 }, { id: 'b' }, { id: 'a', size: 2 }];
    assert.deepEqual(parseList(reply(list), undefined, Thing).items, [{ id: 'a', size: 2 }, { id: 'b' }]);
  });

  it('drops unknown fields and prototypes', () => {
    const list: unknown = JSON.parse('[{"id":"a","x":[[1]],"__proto__":{"size":"big"}}]');
    const { items } = parseList(reply(list), undefined, Thing);
    assert.equal(items[0]?.size, undefined);
    assert.deepEqual(items, [{ id: 'a' }]);
  });

  for (const json of [undefined, null, {}, 'text', 7, { things: {} }]) {
    it(`throws if there is no list: ${JSON.stringify(json)}`, () =>
      assert.throws(
        () => parseList(reply(json), 'things', Thing),
        (error) =>
          error instanceof ApiError &&
          error.fault.kind === 'unexpectedReply' &&
          error.fault.detail === 'things' &&
          !error.mayHaveExecuted,
      ));
  }

  it('limits the number of records', () => {
    const list = Array(100_000).fill(null);
    assert.equal(parseList(reply(list), undefined, Thing).unreadable.length, 100_000);
    list.push(null);
    const fault = { kind: 'unexpectedReply', status: 200, reason: 'tooLarge' };
    assert.throws(() => parseList(reply(list), undefined, Thing), {
      message: 'GET /x returned too many list',
      fault: { ...fault, detail: 'list' },
    });
    assert.throws(() => parseList(reply({ things: list }), 'things', Thing), {
      message: 'GET /x returned too many things',
      fault: { ...fault, detail: 'things' },
    });
  });

  it('names a list that is the whole reply and is missing', () => {
    assert.throws(() => parseList(reply({}), undefined, Thing), {
      message: 'GET /x returned no usable list',
    });
  });
});

describe('parseRecord', () => {
  it('reads the reply or a property of it', () => {
    assert.deepEqual(parseRecord(reply({ id: 'a' }), undefined, Thing), { id: 'a' });
    assert.deepEqual(parseRecord(reply({ thing: { id: 'a' } }), 'thing', Thing), { id: 'a' });
  });

  const rows: readonly [unknown, string | undefined, string][] = [
    [{}, 'thing', 'thing'],
    [undefined, 'thing', 'thing'],
    [undefined, undefined, 'record'],
    [{ thing: { id: 1 } }, 'thing', 'thing.id'],
    [{ id: 1 }, undefined, 'id'],
  ];
  for (const [json, name, field] of rows) {
    it(`names the wrong field ${field}`, () =>
      assert.throws(
        () => parseRecord(reply(json, 'POST'), name, Thing),
        (error) =>
          error instanceof ApiError &&
          error.message === `POST /x returned no usable ${field}` &&
          error.fault.kind === 'unexpectedReply' &&
          error.fault.detail === field &&
          error.mayHaveExecuted,
      ));
  }
});
