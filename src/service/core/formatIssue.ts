/** Describes a problem that zod found, with the name of the field. zod/mini has no messages. */
import type * as z from 'zod/mini';

export function formatIssue(issue: z.core.$ZodIssue): string {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...issue.path, ...unknown].map(String).join('.').slice(0, 200);
  return `${field || 'top level'}: ${problem(issue)}`;
}

function problem(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // zod does not say whether the value is missing or has another type.
      return `must be present and of type ${issue.expected}`;
    case 'unrecognized_keys':
      return 'is not a supported attribute';
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return `must have at least ${issue.minimum} characters`;
    case 'too_big':
      return `must have at most ${issue.maximum} characters`;
    default:
      return issue.message;
  }
}
