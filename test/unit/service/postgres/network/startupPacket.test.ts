import assert from 'node:assert/strict';
import fc from '../../../../helpers/fastCheck.ts';
import { ClientRefusal } from '../../../../../src/service/postgres/network/refusal.ts';
import {
  filterStartupPacket,
  readReplicationRequest,
} from '../../../../../src/service/postgres/network/startupPacket.ts';

const PROTOCOL = 0x30002;

function packetOf(body: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + Buffer.byteLength(body));
  head.writeUInt32BE(PROTOCOL, 4);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** As a client writes its parameters. */
const bodyOf = (parameters: readonly (readonly [string, string])[]): string =>
  `${parameters.map(([name, value]) => `${name}\0${value}\0`).join('')}\0`;

/** The parameters that Postgres gets. */
function forwarded(...parameters: (readonly [string, string])[]): string[][] {
  const packet = filterStartupPacket(packetOf(bodyOf(parameters)));
  assert.equal(packet.readUInt32BE(0), packet.length);
  assert.equal(packet.readUInt32BE(4), PROTOCOL);
  const texts = packet.toString('utf8', 8).split('\0');
  assert.deepEqual(texts.splice(-2), ['', '']);
  return texts.flatMap((name, index) => (index % 2 === 0 ? [[name, texts[index + 1] ?? '']] : []));
}

const UTF8 = ['client_encoding', 'UTF8'];
const options = (value: string): string | undefined =>
  forwarded(['options', value]).find(([name]) => name === 'options')?.[1];

describe('filterStartupPacket', () => {
  it('hands on what the public service does, in order, and sets the encoding', () => {
    assert.deepEqual(
      forwarded(
        ['user', 'jo'],
        ['channel_binding', 'require'],
        ['database', 'büro'],
        ['client_encoding', 'LATIN1'],
        ['pool_timeout', '0'],
        ['application_name', ''],
        ['replication', 'off'],
        ['statement_timeout', '1'],
        ['session_preload_libraries', 'x'],
        ['User', 'root'],
        ['_pq_.new', '1'],
      ),
      [
        ['user', 'jo'],
        ['database', 'büro'],
        ['application_name', ''],
        ['replication', 'off'],
        ['_pq_.new', '1'],
        UTF8,
      ],
    );
  });

  it('hands on a name twice, so that Postgres decides', () => {
    assert.deepEqual(forwarded(['user', 'jo'], ['user', 'root']), [['user', 'jo'], ['user', 'root'], UTF8]);
  });

  it('leaves words for the gateway out of options, as Postgres splits them', () => {
    assert.equal(options('endpoint=ep-cool-1'), undefined);
    assert.equal(options(' project=p\tneon_endpoint_type:read_only\n'), undefined);
    assert.equal(options('-c a=1 endpoint=ep-x --b=2'), '-c a=1 --b=2');
    assert.equal(options(String.raw`-c a=b\ endpoint=x`), String.raw`-c a=b\ endpoint=x`);
    assert.equal(options(String.raw`-c a=b\\ endpoint=x`), String.raw`-c a=b\\`);
    assert.equal(options('-c endpoints=1 -c x=endpoint=1'), '-c endpoints=1 -c x=endpoint=1');
    assert.equal(options('-c neon.x=1'), '-c neon.x=1');
  });

  it('rejects other moments, with commands that hold nothing else', () => {
    const hintFor = (value: string) => {
      try {
        return void options(value);
      } catch (error) {
        return error instanceof ClientRefusal ? error.hint : undefined;
      }
    };
    assert.match(
      hintFor('-c a=b neon_timestamp:2026-01-02T03:04:05.678Z') ?? '',
      /main@2026-01-02T03:04:05\.678Z, /,
    );
    assert.match(hintFor('neon_lsn:0/1A2B') ?? '', /main@0\/1A2B, /);
    assert.match(hintFor('neon_lsn:$(id)') ?? '', /main@<time or LSN>, /);
  });

  it('rejects malformed packets with the error of Postgres', () => {
    for (const body of [
      '',
      'user',
      'user\0jo\0',
      'user\0\0',
      'user\0jo\0\0\0',
      'user\0jo\0\0role\0x\0\0',
      '\0x',
    ])
      assert.throws(
        () => filterStartupPacket(packetOf(body)),
        (error: unknown) => error instanceof ClientRefusal && error.code === '08P01',
        JSON.stringify(body),
      );
  });

  it('hands on nothing else, whatever a client sends', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'user', 'role', 'options', ' ', '\\', '=', '-c', 'é', '_pq_.'),
    });
    const name = text.filter((each) => each !== '');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text)), (parameters) => {
        const allowed = /^(user|options|_pq_\..*|client_encoding)$/s;
        for (const [each = ''] of forwarded(...parameters)) assert.match(each, allowed);
      }),
    );
  });
});

describe('readReplicationRequest', () => {
  const request = (...parameters: (readonly [string, string])[]) =>
    readReplicationRequest(packetOf(bodyOf(parameters)));

  it('is one for logical replication, whose session is an ordinary one that stays open', () => {
    const asked = [
      ['user', 'jo'],
      ['replication', 'database'],
      ['options', '-c datestyle=ISO endpoint=ep-x -c a=ü'],
    ] as const;
    const wanted = '-c datestyle=ISO -c a=ü -c idle_session_timeout=0';
    assert.deepEqual(request(...asked), { options: wanted });
    assert.deepEqual(forwarded(...asked), [['user', 'jo'], ['options', wanted], UTF8]);
    // Postgres's reading of a second one plays no part.
    assert.deepEqual(forwarded(...asked, ['replication', 'true'])[1], ['options', wanted]);
  });

  it('is undefined for an ordinary session, and an error for physical replication', () => {
    for (const value of ['off', 'false', 'no', '0', 'Database'])
      assert.equal(request(['user', 'jo'], ['replication', value]), undefined);
    assert.equal(request(['user', 'jo']), undefined);
    for (const value of ['true', 'ON', 'yes', '1'])
      assert.throws(() => request(['replication', value]), { code: '28000' });
  });
});
