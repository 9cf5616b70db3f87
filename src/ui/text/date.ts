/** Times of the service in the user's language. */
import { env } from 'vscode';
import { sanitize } from './sanitize.ts';

const unknownTime = (text: string): string => sanitize(text, 40);

export const formatDay = (timestamp: string): string => {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? unknownTime(timestamp) : new Date(time).toLocaleDateString(env.language);
};

export const formatDate = (timestamp: string): string => {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? unknownTime(timestamp) : new Date(time).toLocaleString(env.language);
};
