/** The parts of the Postgres protocol that the gateway uses: a client's first packet, an error for it, and cancel requests. */
import { ClientRefusal } from './refusal.ts';

/**
 * The first packets of Postgres clients (Postgres protocol 3, "Start-up"). `tls` is a TLS handshake without an SSL request
 * (`sslnegotiation=direct`), `http` the start of an HTTP request.
 */
type FirstPacket = 'ssl' | 'tls' | 'gssenc' | 'cancel' | 'startup' | 'http';

/** The code of a cancel request, which is in the place of the version of the protocol. */
const CANCEL_REQUEST = 80877102;
const REQUESTS: ReadonlyMap<number, FirstPacket> = new Map([
  [CANCEL_REQUEST, 'cancel'],
  [80877103, 'ssl'],
  [80877104, 'gssenc'],
]);
const PROTOCOL_MAJOR = 3;

/** The most bytes of a first packet, as for Postgres. */
const MAX_PACKET_LENGTH = 10_000;

/** The type of the first TLS record (RFC 8446, section 5.1). No other first packet is long enough to start with it. */
const TLS_HANDSHAKE = 0x16;
const TLS_HEADER = 5;

/** Returns the kind of the first packet; undefined if bytes of it are missing; `invalid` if it is not from a Postgres client. */
export function readFirstPacket(received: Buffer): FirstPacket | 'invalid' | undefined {
  const [first = 0] = received;
  // HTTP begins with a capital letter. As the start of a length, it would be above the limit.
  if (first >= 0x41 && first <= 0x5a) return 'http';
  if (first === TLS_HANDSHAKE) {
    const isComplete =
      received.length >= TLS_HEADER && received.length >= TLS_HEADER + received.readUInt16BE(3);
    return isComplete ? 'tls' : undefined;
  }
  if (received.length < 4) return undefined;
  const length = received.readUInt32BE(0);
  if (length < 8 || length > MAX_PACKET_LENGTH) return 'invalid';
  if (received.length < length) return undefined;
  const code = received.readUInt32BE(4);
  const request = REQUESTS.get(code);
  // More bytes than the request are an attempt to have them read as if they were encrypted.
  if (request !== undefined) return request !== 'cancel' && received.length > length ? 'invalid' : request;
  return code >>> 16 === PROTOCOL_MAJOR ? 'startup' : 'invalid';
}

/** Types of the message with the key of the session, and of those that end a server's answer to a start-up packet. */
const [BACKEND_KEY, READY, ERROR] = [0x4b, 0x5a, 0x45];
/** More bytes than a server's answer to a start-up packet has. */
const MAX_ANSWER = 65_536;

/**
 * Returns the key of a session from what its server sent first: the process id and a secret, whose length depends on the
 * version of the protocol. Undefined if bytes are missing; `none` if it isn't there.
 */
export function readBackendKey(received: Buffer): Buffer | 'none' | undefined {
  for (let at = 0; at + 5 <= received.length; at += 1 + received.readUInt32BE(at + 1)) {
    const type = received[at];
    if (type === READY || type === ERROR) return 'none';
    const end = at + 1 + received.readUInt32BE(at + 1);
    if (type === BACKEND_KEY) return end <= received.length ? received.subarray(at + 5, end) : undefined;
  }
  return received.length > MAX_ANSWER ? 'none' : undefined;
}

/** Returns the packet that ends the statement of the session with this key. */
export function cancelPacket(key: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + key.length, 0);
  head.writeInt32BE(CANCEL_REQUEST, 4);
  return Buffer.concat([head, key]);
}

/** The SQLSTATE that clients understand as "try again later". */
const CANNOT_CONNECT_NOW = '57P03';

/** Returns an ErrorResponse. After a fatal one, the caller closes the connection. */
export function errorResponse(error: unknown, severity: 'FATAL' | 'ERROR' = 'FATAL'): Buffer {
  const { code, hint } =
    error instanceof ClientRefusal ? error : { code: CANNOT_CONNECT_NOW, hint: undefined };
  const text = error instanceof Error ? error.message : String(error);
  const fields = [
    `S${severity}`,
    `V${severity}`,
    `C${code}`,
    `M${text}`,
    ...(hint === undefined ? [] : [`H${hint}`]),
  ];
  // A NUL would end the field, and the rest would be read as another field.
  const body = Buffer.from(`${fields.map((field) => `${field.replaceAll('\0', ' ')}\0`).join('')}\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
