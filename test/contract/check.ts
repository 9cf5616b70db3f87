/** Compares recorded exchanges with the published document. */
import { findDifference } from './differences.ts';
import { ERROR_SCHEMA, findOperation, parts, validatorOf, type Operation, type Schema } from './document.ts';
import type { Exchange } from './recorder.ts';

const API_PATH = '/api/v2';

/** Returns what the document does not allow, except the listed differences. */
export function violationsIn(exchange: Exchange): string[] {
  const { method, target, status } = exchange;
  const { pathname, searchParams } = URL.parse(target, 'http://localhost') ?? new URL('http://localhost');
  // Leases belong to the local service alone.
  if (pathname === '/lease') return [];
  const operation = pathname.startsWith(`${API_PATH}/`)
    ? findOperation(method === 'HEAD' ? 'GET' : method, decoded(pathname.slice(API_PATH.length)))
    : undefined;
  const name = operation?.name ?? `${method} ${pathname.slice(0, 160)}`;
  const found = [
    ...(mustBeValid(exchange) ? requestProblems(exchange, operation, searchParams) : []),
    ...replyProblems(exchange, operation),
  ];
  return found
    .filter((problem) => findDifference(name, problem) === undefined)
    .map((problem) => `${name} ${status}: ${problem}`);
}

/**
 * Whether the request must be as documented: the service accepted it, so the public service has to accept it too, or the
 * extension's client sent it. A client whose values the service rejects was given wrong ones by a test.
 */
const mustBeValid = ({ isClient, status }: Exchange): boolean =>
  status < 300 || (isClient && status !== 400 && status !== 422);

/** Splits the path at its slashes, as the service does, before it decodes the parts. */
function decoded(pathname: string): string[] {
  return pathname.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

function replyProblems({ status, body }: Exchange, operation: Operation | undefined): string[] {
  const documented =
    operation === undefined && status >= 400 ? { schema: ERROR_SCHEMA } : operation?.response(status);
  if (documented === undefined) return ['the document has no such reply'];
  const { schema } = documented;
  if (schema === undefined) return body === '' ? [] : ['the reply has a body'];
  return jsonProblems('the reply', body, schema);
}

function requestProblems(
  { requestBody: body }: Exchange,
  operation: Operation | undefined,
  query: URLSearchParams,
): string[] {
  if (operation === undefined) return ['the document has no such call'];
  const { requestBody } = operation;
  const problems = [...parameterProblems(operation, query)];
  if (body === '') return requestBody?.isRequired ? [...problems, 'the request has no body'] : problems;
  if (requestBody === undefined) return [...problems, 'the request has a body'];
  return [...problems, ...jsonProblems('the request', body, requestBody.schema)];
}

function* parameterProblems(operation: Operation, query: URLSearchParams): Iterable<string> {
  for (const parameter of operation.parameters) {
    const { name, required, schema } = parameter;
    const value = parameter.in === 'path' ? operation.pathValues[name] : query.get(name);
    if (value === null || value === undefined) {
      if (required) yield `the parameter ${name} is missing`;
    } else if (!validatorOf(schema)(typed(value, schema))) {
      yield `the parameter ${name} is not valid`;
    }
  }
  for (const name of query.keys()) {
    const isKnown = operation.parameters.some((each) => each.in === 'query' && each.name === name);
    if (!isKnown) yield `there is no parameter ${name}`;
  }
}

/** Returns the value of a parameter in the type that its schema has. */
function typed(text: string, { type }: Schema): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}

function jsonProblems(what: string, text: string, schema: Schema): string[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return [`${what} is not JSON`];
  }
  const validate = validatorOf(schema);
  validate(json);
  const errors = (validate.errors ?? []).map(
    ({ instancePath, message }) => `${what}${withoutIndexes(instancePath)} ${message}`,
  );
  const unknown = [...unknownFields(json, schema)].map((field) => `${what} has the unknown field ${field}`);
  return [...new Set([...errors, ...unknown])];
}

const withoutIndexes = (path: string): string => path.replace(/\/\d+/g, '');

/** Yields the fields of a value that its schema does not describe; schemas themselves allow any. */
function* unknownFields(value: unknown, schema: Schema, path = ''): Iterable<string> {
  const all = parts(schema);
  if (Array.isArray(value)) {
    const items = all.find((part) => part.items !== undefined)?.items;
    if (items !== undefined) for (const item of value) yield* unknownFields(item, items, path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const property = all.find((part) => Object.hasOwn(part.properties ?? {}, name))?.properties?.[name];
    const others = all.find((part) => part.additionalProperties !== undefined)?.additionalProperties;
    if (property !== undefined) yield* unknownFields(inner, property, `${path}/${name}`);
    else if (others === undefined || others === false) yield `${path}/${name}`;
    else if (others !== true) yield* unknownFields(inner, others, `${path}/*`);
  }
}
