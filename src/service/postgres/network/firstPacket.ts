/** The first packet of a connection: the only one of a client's that is ever read (Postgres protocol 3, "Start-up"). */

/** What a client may begin with. Any other first packet is no Postgres client's. */
export type FirstPacket = 'ssl' | 'gssenc' | 'cancel' | 'startup';

const SSL_REQUEST = 80877103;
const GSSENC_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const PROTOCOL_3 = 3 << 16;

/** Postgres's own bound for a start-up packet. */
const LONGEST_PACKET = 10_000;

/**
 * Reads the first packet in what has arrived so far.
 * @returns its kind and length; undefined when more must arrive; `invalid` when it never becomes one
 */
export function readFirstPacket(
  arrived: Buffer,
): { readonly kind: FirstPacket; readonly length: number } | undefined | 'invalid' {
  if (arrived.length < 4) return undefined;
  const length = arrived.readUInt32BE(0);
  if (length < 8 || length > LONGEST_PACKET) return 'invalid';
  if (arrived.length < length) return undefined;
  const kind = kindOf(arrived.readUInt32BE(4));
  return kind === undefined ? 'invalid' : { kind, length };
}

function kindOf(code: number): FirstPacket | undefined {
  switch (code) {
    case SSL_REQUEST:
      return 'ssl';
    case GSSENC_REQUEST:
      return 'gssenc';
    case CANCEL_REQUEST:
      return 'cancel';
    default:
      return code >>> 16 === PROTOCOL_3 >>> 16 ? 'startup' : undefined;
  }
}

/** A start-up packet with these parameters. */
export function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.writeUInt32BE(PROTOCOL_3, 4);
  return Buffer.concat([head, body]);
}
