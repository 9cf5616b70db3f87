/** Times of the service in the user's language. */
import { env } from 'vscode';
import { sanitize } from './sanitize.ts';

export const formatDay = (timestamp: string): string =>
  format(timestamp, (date) => date.toLocaleDateString(env.language));

export const formatDate = (timestamp: string): string =>
  format(timestamp, (date) => date.toLocaleString(env.language));

/** Text that is no timestamp is shown as it is, up to a limit. */
const format = (timestamp: string, toText: (date: Date) => string): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? sanitize(timestamp, 40) : toText(date);
};
