/**
 * Checks the rehearsals and schema comparisons of a service. These checks aren't in `rehearsal.ts`, because the npm package
 * uses that file without loading zod.
 */
import * as z from 'zod/mini';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Rehearsal } from './rehearsal.ts';

/** Checks only the outline of a rehearsal, because only the local service has rehearsals. */
export const ParsedRehearsal = z.custom<Rehearsal>((value) =>
  ['statements', 'locks', 'before', 'after'].every((list) => Array.isArray(fieldsOf(value)[list])),
);

/** How the schema of a rehearsed branch differs. By the public API's document, the difference may be missing. */
export const SchemaComparison = z.object({ diff: z.optional(z.string()) });
