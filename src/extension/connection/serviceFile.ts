/** libpq's connection services (pg_service.conf) and password file. */
import { libpqFields } from './connectionFormats.ts';
import { splitHost } from '../../api/addresses/host.ts';
import type { ConnectionStringParts } from './connectionStrings.ts';
import { appendLine, type Replacement } from '../envFile/dotEnv.ts';

interface PassFileEntry {
  readonly host: string;
  readonly role: string;
  readonly password: string;
}

/** Whether a name needs no escaping, neither in connection strings nor in the file. */
export const isServiceName = (text: string): boolean => /^[\w.-]+$/.test(text);

/** Makes a valid service name of texts, such as the names of a project and a compute. */
export const serviceName = (...texts: readonly string[]): string =>
  texts
    .map((text) => text.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, ''))
    .filter((text) => text !== '')
    .join('-');

/** Returns the lines of a service, without a password. */
export const serviceLines = (parts: Omit<ConnectionStringParts, 'password'>): readonly string[] =>
  libpqFields({ ...parts, password: undefined }).map(([name, value]) => `${name}=${value}`);

/** Returns the lines of a service in the file, without comments and blank lines; undefined if there is no such service. */
export function findServiceLines(file: string, name: string): readonly string[] | undefined {
  const section = findSection(file, name);
  return section && entryLines(file.slice(section.start, section.end)).slice(1);
}

/** Replaces the lines of a service, or adds it at the end. Everything else stays. */
export function setService(file: string, name: string, lines: readonly string[]): Replacement {
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const text = [`[${name}]`, ...lines].join(eol);
  const section = findSection(file, name);
  if (section !== undefined) return { ...section, text };
  return appendLine(file, file.trim() === '' ? text : `${eol}${text}`);
}

/** Returns the range from a service's header to its last entry. If a name occurs twice, libpq uses the first. */
function findSection(file: string, name: string): Pick<Replacement, 'start' | 'end'> | undefined {
  let range: { start: number; end: number } | undefined;
  for (const { 0: line, index } of file.matchAll(/[^\r\n]+/g)) {
    const text = line.trim();
    if (text.startsWith('[')) {
      if (range !== undefined) return range;
      if (text.startsWith(`[${name}]`)) range = { start: index, end: index + line.length };
    } else if (range !== undefined && text !== '' && !text.startsWith('#')) {
      range.end = index + line.length;
    }
  }
  return range;
}

const entryLines = (text: string): readonly string[] =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Returns a line of libpq's password file, for every database at this address. The line is a secret. */
export function passFileLine({ host, role, password }: PassFileEntry): string {
  const { name, port } = splitHost(host);
  const escape = (text: string) => text.replace(/[\\:]/g, '\\$&');
  return `${escape(name)}:${port}:*:${escape(role)}:${escape(password)}\n`;
}
