/** The first packet of a client's connection, the only one the gateway reads (Postgres protocol 3, "Start-up"). */

/** The packets that a Postgres client can start with. */
export type FirstPacket = 'ssl' | 'gssenc' | 'cancel' | 'startup';

const SSL_REQUEST = 80877103;
const GSSENC_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const PROTOCOL_MAJOR = 3;

/** Postgres's own limit. Bytes. */
const LONGEST_PACKET = 10_000;

/**
 * Reads the first packet from the bytes received so far.
 * @returns its kind and length; undefined if bytes are missing; `invalid` if it is not from a Postgres client
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
      return code >>> 16 === PROTOCOL_MAJOR ? 'startup' : undefined;
  }
}
