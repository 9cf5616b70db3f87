/** ErrorResponse messages of the Postgres protocol: made for clients we refuse, read from servers that refuse us. */

/** SQLSTATEs in use. Clients take both as "try again later", not as a fault of theirs. */
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

/** The message in an ErrorResponse's body. */
export function parseErrorMessage(body: Buffer): string {
  const fields = body.toString('utf8').split('\0');
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'Postgres gave no reason';
}
