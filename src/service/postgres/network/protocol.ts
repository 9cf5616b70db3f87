/** The parts of the Postgres protocol that the gateway uses: a client's first packet, and an error for it. */

/**
 * The first packets of Postgres clients (Postgres protocol 3, "Start-up"). `tls` is a TLS handshake without an SSL request
 * (`sslnegotiation=direct`).
 */
export type FirstPacket = 'ssl' | 'tls' | 'gssenc' | 'cancel' | 'startup';

const SSL_REQUEST = 80877103;
const GSSENC_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
const PROTOCOL_MAJOR = 3;

/** Postgres's own limit. Bytes. */
const MAX_PACKET_LENGTH = 10_000;

/** The type of the first TLS record (RFC 8446, section 5.1). No other first packet is long enough to start with it. */
const TLS_HANDSHAKE = 0x16;
const TLS_HEADER = 5;

/**
 * Reads the first packet from the bytes received so far.
 * @returns its kind and length; undefined if bytes are missing; `invalid` if it is not from a Postgres client
 */
export function readFirstPacket(
  received: Buffer,
): { readonly kind: FirstPacket; readonly length: number } | undefined | 'invalid' {
  if (received.length < 4) return undefined;
  if (received[0] === TLS_HANDSHAKE) return readTlsHandshake(received);
  const length = received.readUInt32BE(0);
  if (length < 8 || length > MAX_PACKET_LENGTH) return 'invalid';
  if (received.length < length) return undefined;
  const kind = kindOf(received.readUInt32BE(4));
  return kind === undefined ? 'invalid' : { kind, length };
}

function readTlsHandshake(received: Buffer): ReturnType<typeof readFirstPacket> {
  if (received.length < TLS_HEADER) return undefined;
  const length = TLS_HEADER + received.readUInt16BE(3);
  if (received[1] !== 3 || length > MAX_PACKET_LENGTH) return 'invalid';
  return received.length < length ? undefined : { kind: 'tls', length };
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

/** A FATAL ErrorResponse which clients understand as "try again later", after which the connection is closed. */
export function errorResponse(message: string): Buffer {
  // A NUL would end the field, and the rest would be read as another field.
  const text = message.replaceAll('\0', ' ');
  const body = Buffer.from(`SFATAL\0VFATAL\0C57P03\0M${text}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
