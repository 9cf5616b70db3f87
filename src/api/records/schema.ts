/**
 * Records, told by a plain function for each field: a record that is right costs its checks and nothing else. Types made
 * of objects, as zod's are, make copies and results for every field, which for thousands of records took longer than to
 * send and parse them.
 */

/** Whether a value may stand in a field, and where it is an object, the path to what is wrong inside. */
export interface Field<T> {
  (value: unknown): value is T;
  readonly wrongIn?: ((value: unknown) => readonly string[] | undefined) | undefined;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
/** What a field, or a record, holds when it is right. */
export type Value<F> = F extends Field<infer T> ? T : never;
type MissingIn<F extends Fields> = {
  [Name in keyof F]: undefined extends Value<F[Name]> ? Name : never;
}[keyof F];

/** An object with these fields, and any others. */
export type WithFields<F extends Fields> = {
  [Name in Exclude<keyof F, MissingIn<F>>]: Value<F[Name]>;
} & { [Name in MissingIn<F>]?: Value<F[Name]> } & { [field: string]: unknown };

const LONGEST_TEXT = 4096;

/** No longer than any name or host; beyond it, a text would only choke whoever shows it. */
export const text = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT;
export const longText = (value: unknown): value is string => typeof value === 'string';
/** JSON knows no infinity, but numbers too large to be others. */
export const number = (value: unknown): value is number => Number.isFinite(value);
export const isTrue = (value: unknown): value is true => value === true;
export const flag = (value: unknown): value is boolean => typeof value === 'boolean';
export const dictionary = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field may be missing or null. */
export const maybe = <T>(field: Field<T>): Field<T | null | undefined> => {
  const check = (value: unknown): value is T | null | undefined =>
    value === undefined || value === null || field(value);
  return Object.assign(check, { wrongIn: field.wrongIn });
};

/** A record, or an object in a field. */
export function object<F extends Fields>(fields: F): Field<WithFields<F>> {
  const all = Object.entries(fields);
  const wrongIn = (value: unknown): readonly string[] | undefined => {
    if (!dictionary(value)) return [];
    for (const [name, field] of all) {
      if (!field(value[name])) return [name, ...(field.wrongIn?.(value[name]) ?? [])];
    }
    return undefined;
  };
  const check = (value: unknown): value is WithFields<F> => wrongIn(value) === undefined;
  return Object.assign(check, { wrongIn });
}
