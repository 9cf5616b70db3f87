/** The marks that the user can give to accounts and projects. `operations/guards.ts` says what they restrict. */

/** For `production`, the user enters the name to confirm a change. For `readOnly`, all changes are blocked. */
export const MARKS = ['production', 'readOnly'] as const;

export type Mark = (typeof MARKS)[number];

/** The marks by project id or by `accountId`. */
export type Marks = Readonly<Record<string, Mark>>;
