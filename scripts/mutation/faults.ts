/** Lists the one-operator faults that can be put into a TypeScript file, found in its syntax tree. */
import { parseSync } from 'oxc-parser';

export interface Fault {
  readonly line: number;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

/** The part of an ESTree node that is read here. */
interface Node {
  readonly type: string;
  readonly range: readonly [number, number];
  readonly [property: string]: unknown;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
};

/** TypeScript nodes that hold an expression. All others are types and have no effect at run time. */
const EXPRESSIONS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSParameterProperty']);

export function findFaults(text: string): readonly Fault[] {
  const { program } = parseSync('file.ts', text, { range: true });
  const faults: Fault[] = [];
  const harmless = new Set<unknown>();
  visit(program, (node) => {
    for (const each of harmlessIn(node)) harmless.add(each);
    if (harmless.has(node)) return;
    for (const { start, end, after } of faultsOf(node, text)) {
      const line = text.slice(0, start).split('\n').length;
      faults.push({ line, start, end, before: text.slice(start, end), after });
    }
  });
  return faults;
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) return value.forEach((each) => visit(each, onNode));
  if (!isNode(value) || isSkipped(value)) return;
  onNode(value);
  for (const [property, child] of Object.entries(value)) {
    if (!isNameOrType(value, property)) visit(child, onNode);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'range' in value;

function isSkipped({ type, declare }: Node): boolean {
  if (type.startsWith('TS')) return !EXPRESSIONS.has(type);
  return type.startsWith('Import') || type === 'ExportAllDeclaration' || declare === true;
}

function isNameOrType(node: Node, property: string): boolean {
  if (property === 'typeAnnotation' || property === 'typeArguments' || property === 'source') return true;
  return property === 'key' && node['computed'] !== true;
}

/** The nodes in this one whose faults change nothing. */
function harmlessIn(node: Node): readonly unknown[] {
  const nodes = (...values: readonly unknown[]) => values.flat().filter(isNode);
  // The groups of a match are missing together, and the first default shows that.
  if (node.type === 'ArrayPattern') {
    const defaults = nodes(node['elements']).flatMap(({ right }) => nodes(right));
    return defaults.slice(1).filter(({ value }) => value === '');
  }
  // In `a < b ? -1 : 1` only the sign counts.
  if (node.type !== 'ConditionalExpression') return [];
  const ends = nodes(node['consequent'], node['alternate']).flatMap((end) => nodes(end['argument'] ?? end));
  return ends.every(({ value }) => value === 1) ? ends : [];
}

type Replacement = Pick<Fault, 'start' | 'end' | 'after'>;

function faultsOf(node: Node, text: string): readonly Replacement[] {
  const [start, end] = node.range;
  const source = (child: unknown) => (isNode(child) ? text.slice(...child.range) : '');
  const whole = (after: string): Replacement[] => [{ start, end, after }];
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return node['operator'] === '??' ? whole(`(${source(node['left'])})`) : swapOperator(node, text);
    case 'UpdateExpression':
      return whole(text.slice(start, end).replace(/\+\+|--/, (operator) => SWAPPED[operator] ?? operator));
    case 'UnaryExpression':
      return node['operator'] === '!' || node['operator'] === '-' ? whole(source(node['argument'])) : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return negate(node['test'], text);
    case 'ExpressionStatement':
      return isCall(node['expression']) ? whole(';') : [];
    case 'Literal':
      return literalFaults(node['value']).map((after) => ({ start, end, after }));
    case 'TemplateLiteral':
      return text.slice(start, end) === '``' ? [] : whole('``');
    default:
      return [];
  }
}

function swapOperator(node: Node, text: string): readonly Replacement[] {
  const after = SWAPPED[String(node['operator'])];
  const { left, right } = node;
  if (after === undefined || !isNode(left) || !isNode(right)) return [];
  const between = text.slice(left.range[1], right.range[0]);
  const start = left.range[1] + between.indexOf(String(node['operator']));
  return [{ start, end: start + String(node['operator']).length, after }];
}

/** Comparisons and negations already have other faults. */
function negate(test: unknown, text: string): readonly Replacement[] {
  if (!isNode(test) || /^(Binary|Logical|Unary)Expression$/.test(test.type)) return [];
  const [start, end] = test.range;
  return [{ start, end, after: `!(${text.slice(start, end)})` }];
}

function isCall(expression: unknown): boolean {
  if (!isNode(expression)) return false;
  if (expression.type === 'AwaitExpression' || expression.type === 'UnaryExpression')
    return isCall(expression['argument']);
  if (expression.type === 'ChainExpression') return isCall(expression['expression']);
  const callee = expression['callee'];
  return expression.type === 'CallExpression' && !(isNode(callee) && callee.type === 'Super');
}

function literalFaults(value: unknown): readonly string[] {
  switch (typeof value) {
    case 'boolean':
      return [String(!value)];
    case 'number':
      return [String(value + 1)];
    case 'string':
      return [value === '' ? "'mutated'" : "''"];
    default:
      return [];
  }
}
