/**
 * Removes secrets from text. Only known secrets can be removed from data, because a pattern also matches what is none. Patterns are for
 * logs and messages, which nobody writes back.
 */

const REDACTED = '‹redacted›';

/** The shortest secret that is removed from data. A shorter text may be part of an ordinary word. */
export const MIN_SECRET_LENGTH = 8;

/** Removes known secrets from data, and changes nothing else. */
export function hideKnownSecrets(text: string, secrets: Iterable<string>): string {
  let clean = text;
  for (const secret of secrets)
    if (secret.length >= MIN_SECRET_LENGTH) clean = clean.replaceAll(secret, REDACTED);
  return clean;
}

const NAME = '(?:password|api[_-]?key)';

/**
 * Matches a password such as `PGPASSWORD=…`, or `password = '…'` of libpq. A value in quotes may be cut off; others end at white
 * space.
 */
const PARAMETER = new RegExp(
  String.raw`(?<![?&])(${NAME}\s*=\s*)(?:"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)|[^\s"']\S*)`,
  'gis',
);

/**
 * Matches a field with a secret in quotes, as in JSON. Without quotes, what follows a colon is the rest of a sentence. A word that
 * only ends in key, such as `monkey`, doesn't count.
 */
const FIELD = /((?:password|api[_-]?key|(?<![\w-])key)["']?\s*[:=]\s*)(["'])(?:(?!\2)[^\\]|\\.)+(?:\2|$)/gis;

/**
 * Matches a URL from its password on. The password may have an `@` or `/` that isn't encoded, so it ends at the last `@`. Digits may be
 * the start of a password, and not only a port, so they are hidden too if an `@` follows.
 */
const URL_PASSWORD = /(:\/\/[^\s:/]*:)(\S+)/g;

/**
 * Removes keys, bearer tokens and passwords from a log or message.
 * @param secrets known secrets to remove as well
 */
export function redact(text: string, secrets: Iterable<string> = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, REDACTED);
  return clean
    .replace(/(\bauthorization["']?\s*[:=]\s*["']?Bearer\s+)[^\s"',;]+/gi, `$1${REDACTED}`)
    .replace(/\b(Bearer\s+)[\w.~+/-]{20,}=*/gi, `$1${REDACTED}`)
    .replace(/\bnapi_[A-Za-z0-9_-]+/g, REDACTED)
    .replace(URL_PASSWORD, hidePassword)
    .replace(/([?&]password=)[^\s&#"']+/gi, `$1${REDACTED}`)
    .replace(PARAMETER, `$1${REDACTED}`)
    .replace(FIELD, `$1$2${REDACTED}$2`);
}

/** Replaces the password in a match of {@link URL_PASSWORD}. Without an `@`, the text isn't a login and stays as it is. */
function hidePassword(text: string, start: string, rest: string): string {
  const end = rest.lastIndexOf('@');
  return end === -1 ? text : `${start}${REDACTED}${rest.slice(end)}`;
}
