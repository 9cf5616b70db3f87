/** Finds what answers a path: a table of patterns such as `/projects/:project_id`, compared part by part. */

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Match<T> {
  readonly found: T;
  /** The path's part that stands for a parameter of the pattern; empty for one it does not have. */
  readonly param: (name: string) => string;
}

interface Entry<T> {
  readonly method: string;
  /** A literal part, or `:name`, which any part but an empty one can stand for. */
  readonly pattern: readonly string[];
  readonly found: T;
}

export class Router<T> {
  /** By the number of parts. */
  readonly #entries = new Map<number, Entry<T>[]>();

  add(method: Method, path: string, found: T): void {
    const pattern = path.slice(1).split('/');
    const others = this.#entries.get(pattern.length) ?? [];
    this.#entries.set(pattern.length, [...others, { method, pattern, found }]);
  }

  /** @param parts as in a {@link Target} @returns undefined when there is nothing for this method */
  match(method: string, parts: readonly string[]): Match<T> | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const entry = this.#at(parts).find((each) => each.method === wanted && fits(each.pattern, parts));
    if (entry === undefined) return undefined;
    return {
      found: entry.found,
      param: (name) => parts[entry.pattern.indexOf(`:${name}`)] ?? '',
    };
  }

  /** What would match at this path. */
  methods(parts: readonly string[]): string[] {
    return this.#at(parts)
      .filter(({ pattern }) => fits(pattern, parts))
      .map(({ method }) => method);
  }

  #at(parts: readonly string[]): readonly Entry<T>[] {
    return this.#entries.get(parts.length) ?? [];
  }
}

const fits = (pattern: readonly string[], parts: readonly string[]): boolean =>
  pattern.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]));
