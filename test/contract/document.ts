/** The published OpenAPI document of the public service, and validators of its schemas. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { load } from 'js-yaml';

/** As far as the document uses it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Partial<Record<'application/json', { readonly schema: Schema }>>>;
}

interface Reference {
  readonly $ref?: string;
}

interface RawOperation {
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & Reference>>;
}

const METHODS = ['get', 'post', 'patch', 'put', 'delete'] as const;
type Method = (typeof METHODS)[number];
type PathItem = Partial<Record<Method, RawOperation>> & Pick<RawOperation, 'parameters'>;

interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A call that the document describes. */
export interface Operation {
  /** Such as `GET /projects/{project_id}`. */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly pathValues: Readonly<Record<string, string>>;
  readonly requestBody: { readonly schema: Schema; readonly isRequired: boolean } | undefined;
  /** Returns undefined if the status is not documented. The schema is undefined for a reply without a body. */
  readonly response: (status: number) => { readonly schema: Schema | undefined } | undefined;
}

const ID = 'document';
const PACKAGE = '@neondatabase/api-client';
const folder = path.dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
const text = readFileSync(path.join(folder, 'public-v2-for-users.gen.yaml'), 'utf8');
// Absolute references, so that schemas outside the document can be compiled with its schemas.
const { paths, components } = JSON.parse(
  JSON.stringify(load(text)).replaceAll('"#/components/', `"${ID}#/components/`),
) as Document;

const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });
formats.default(ajv);
ajv.addSchema({ $id: ID, components });
const validators = new WeakMap<Schema, ValidateFunction>();

export function validatorOf(schema: Schema): ValidateFunction {
  let validate = validators.get(schema);
  if (validate === undefined) validators.set(schema, (validate = ajv.compile(schema)));
  return validate;
}

function resolved<T extends object>(value: T | Reference): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T;
  const [kind = '', name = ''] = value.$ref.replace(`${ID}#/components/`, '').split('/');
  return resolved(components[kind]?.[name] as T | Reference);
}

/** Follows references and returns a schema with its alternatives and parts. */
export function parts(schema: Schema): readonly Schema[] {
  const own = resolved<Schema>(schema);
  return [own, ...[...(own.allOf ?? []), ...(own.oneOf ?? [])].flatMap(parts)];
}

export const ERROR_SCHEMA: Schema = { $ref: `${ID}#/components/schemas/GeneralError` };

/** @param pathParts the parts of the path after the base address; the first is empty */
export function findOperation(method: string, pathParts: readonly string[]): Operation | undefined {
  const found = Object.keys(paths).filter((template) => pathValues(template, pathParts) !== undefined);
  // A fixed name wins over a parameter: /projects/shared is not a project.
  const [template] = found.toSorted((a, b) => a.split('{').length - b.split('{').length);
  const item = paths[template ?? ''];
  const raw = item?.[method.toLowerCase() as Method];
  if (template === undefined || item === undefined || raw === undefined) return undefined;
  const { requestBody, responses } = raw;
  const schema = requestBody?.content?.['application/json']?.schema;
  const all = [...(item.parameters ?? []), ...(raw.parameters ?? [])];
  return {
    name: `${method} ${template}`,
    parameters: all.map((parameter) => resolved<Parameter>(parameter)),
    pathValues: pathValues(template, pathParts) ?? {},
    requestBody: schema && { schema, isRequired: requestBody?.required === true },
    response(status) {
      const response = responses[status] ?? (status >= 400 ? responses['default'] : undefined);
      return response && { schema: resolved<Body>(response).content?.['application/json']?.schema };
    },
  };
}

/** Returns each call of the document as its method and its path with `{names}`. */
export const allCalls = (): (readonly [method: string, template: string])[] =>
  Object.entries(paths).flatMap(([template, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map(
      (method) => [method.toUpperCase(), template] as const,
    ),
  );

/** Returns undefined if the path does not match. */
function pathValues(template: string, pathParts: readonly string[]): Record<string, string> | undefined {
  const names = template.split('/');
  const values: Record<string, string> = {};
  const isMatch = names.every((name, index) => {
    const value = pathParts[index] ?? '';
    if (!name.startsWith('{')) return name === value;
    values[name.slice(1, -1)] = value;
    return value !== '';
  });
  return isMatch && names.length === pathParts.length ? values : undefined;
}
