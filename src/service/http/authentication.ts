/** Section 5: every call carries `Authorization: Bearer <API_KEY>`. */
import type { IncomingMessage } from 'node:http';
import type { ApiKeys } from '../controlPlane/apiKeys.ts';
import { HttpError } from '../core/httpError.ts';

const BEARER = /^Bearer +([\x21-\x7e]{1,1024})$/i;

/** @throws {HttpError} 401, always in the same words: what was wrong with the key is nobody's business */
export function authenticate(request: IncomingMessage, keys: ApiKeys): void {
  const value = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const from = request.socket.remoteAddress ?? '';
  if (value !== undefined && keys.isValid(value, from)) return;
  throw new HttpError(401, 'UNAUTHORIZED', 'The API key is missing, wrong or revoked.', {
    'www-authenticate': 'Bearer',
  });
}
