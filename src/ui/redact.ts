const GONE = '‹redacted›';

/** Takes keys, bearer tokens and the passwords of connection URIs out of a text. @param secrets values known to be secret */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, GONE);
  return clean
    .replace(/\b(Bearer)\s+[^\s"',;]+/gi, `$1 ${GONE}`)
    .replace(/\bnapi_[A-Za-z0-9_-]+/g, GONE)
    .replace(/(:\/\/[^\s:/@]*:)[^\s@]+(@?)/g, hidePassword)
    .replace(/("?(?:password|api_?key|key)"?\s*[:=]\s*)"[^"]+"/gi, `$1"${GONE}"`);
}

/** Without an `@` it was no login. The pattern takes that text too, so that it is not searched again and again. */
const hidePassword = (text: string, start: string, at: string): string =>
  at === '' ? text : `${start}${GONE}${at}`;
