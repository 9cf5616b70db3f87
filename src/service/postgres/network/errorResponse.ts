/** The Postgres protocol's message for a client that can't be connected. */

/** Clients treat both as "try again later". */
export type SqlState = '57P03' | '08P01';

/** A FATAL ErrorResponse, after which the connection is closed. */
export function errorResponse(message: string, sqlState: SqlState = '57P03'): Buffer {
  // A NUL would end the field early and let the rest be read as another.
  const text = message.replaceAll('\0', ' ');
  const body = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
