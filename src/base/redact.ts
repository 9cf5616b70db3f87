/** Removes secrets from text. */

const REDACTED = '‹redacted›';

/** Removes keys, bearer tokens and passwords of connection URIs. @param secrets known secrets to remove as well */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, REDACTED);
  return clean
    .replace(/\b(Bearer)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`)
    .replace(/\bnapi_[A-Za-z0-9_-]+/g, REDACTED)
    .replace(/(:\/\/[^\s:/@]*:)[^\s@]+(@?)/g, hidePassword)
    .replace(/("?(?:password|api_?key|key)"?\s*[:=]\s*)"[^"]+"/gi, `$1"${REDACTED}"`);
}

/** Without an `@`, the match isn't a login. The pattern matches it anyway to keep the search linear. */
const hidePassword = (text: string, start: string, at: string): string =>
  at === '' ? text : `${start}${REDACTED}${at}`;
