/** Limits for names of projects, branches, computes and keys. The specification has no rule for them; the lengths are those of the public service. */

/** The longest name of a project, branch or snapshot. */
export const MAX_NAME_LENGTH = 256;
/** The longest name of a compute or API key. */
export const MAX_SHORT_NAME_LENGTH = 64;

/**
 * Whether a text can be a name: not blank, not longer than so many Unicode characters, and without control characters. Postgres can't store NUL, and the others
 * can't be seen in lists.
 */
export const isName = (text: string, maxLength = MAX_NAME_LENGTH): boolean =>
  Array.from(text).length <= maxLength && text.trim() !== '' && !/\p{Cc}/u.test(text);
