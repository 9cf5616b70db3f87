/**
 * Checks the rehearsals of a service. The check isn't in `rehearsal.ts`, because the npm package uses that file without loading
 * zod.
 */
import * as z from 'zod/mini';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Rehearsal } from './rehearsal.ts';

/** Checks only the outline of a rehearsal, because only the local service has rehearsals. */
export const ParsedRehearsal = z.custom<Rehearsal>((value) =>
  ['statements', 'locks', 'before', 'after'].every((list) => Array.isArray(fieldsOf(value)[list])),
);
