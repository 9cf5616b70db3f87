/** Removes secrets from text. */

const REDACTED = '‹redacted›';

/** Removes keys, bearer tokens and passwords of connection URIs. @param secrets known secrets to remove as well */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, REDACTED);
  return clean
    .replace(/\b(Bearer)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`)
    .replace(/\bnapi_[A-Za-z0-9_-]+/g, REDACTED)
    .replace(/(:\/\/[^\s:/]*:)(\S+)/g, hidePassword)
    .replace(/([?&]password=)[^\s&#"']+/gi, `$1${REDACTED}`)
    .replace(/("?(?:password|api_?key|key)"?\s*[:=]\s*)"[^"]+"/gi, `$1"${REDACTED}"`);
}

/**
 * Hides the password of a URL. It may have an `@` that isn't encoded, so it ends at the last `@`. Without an `@`, the text isn't a
 * login.
 */
function hidePassword(text: string, start: string, rest: string): string {
  const end = rest.lastIndexOf('@');
  return end === -1 ? text : `${start}${REDACTED}${rest.slice(end)}`;
}
