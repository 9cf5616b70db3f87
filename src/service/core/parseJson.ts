import { badRequest } from './serviceErrors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the body of a request.
 * @returns its text, too
 * @throws {HttpError} 400. Its message doesn't repeat the body, which may contain secrets.
 */
export function parseJsonBytes(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
}
