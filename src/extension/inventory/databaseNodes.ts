/**
 * The rows below a branch for its databases, the tables, views and functions of each, and the columns of each table. They are
 * arguments of commands, too.
 */
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { BranchIds } from '../account/refs.ts';
import { asBranchNode } from './nodes.ts';

interface DatabasesNode extends BranchIds {
  readonly kind: 'databases';
}

interface DatabaseNode extends BranchIds {
  readonly kind: 'database';
  readonly database: string;
}

/** A table or view. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
}

export interface TableNode extends BranchIds, TableName {
  readonly kind: 'table';
  readonly database: string;
}

export interface Column {
  readonly name: string;
  /** The type as SQL writes it, such as `numeric(8,2)`. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isKey: boolean;
}

export interface ColumnNode extends BranchIds, Column {
  readonly kind: 'column';
  readonly database: string;
  readonly table: { readonly schema: string; readonly name: string };
}

/** A function or procedure. */
export interface FunctionName {
  readonly schema: string;
  readonly name: string;
  /** The parameters as SQL writes them, such as `a integer, b text`. */
  readonly parameters: string;
  /** The type of the result; null for a procedure. */
  readonly result: string | null;
}

export interface FunctionNode extends BranchIds, FunctionName {
  readonly kind: 'function';
  readonly database: string;
}

/** A row that says why its parent shows no rows, or how many more it has. */
export interface DatabaseHintNode extends BranchIds {
  readonly kind: 'databaseHint';
  readonly parent: DatabaseParentNode;
  readonly hint: 'empty' | 'notRead' | 'notOffered' | { readonly error: unknown } | { readonly more: number };
}

/** Rows that load the rows below them. */
export type DatabaseParentNode = DatabasesNode | DatabaseNode | TableNode;
export type DatabaseTreeNode = DatabaseParentNode | ColumnNode | FunctionNode | DatabaseHintNode;

/** Reads a command's argument, which may be anything. @returns undefined if it is no row that loads rows below it */
export function asDatabaseRow(value: unknown): DatabaseParentNode | undefined {
  const { kind, database, schema, name, isView } = fieldsOf(value);
  const branch = branchOfRow(value);
  if (branch === undefined) return undefined;
  if (kind === 'databases') return { kind, ...branch };
  if (typeof database !== 'string') return undefined;
  if (kind === 'database') return { kind, ...branch, database };
  if (kind !== 'table' || typeof schema !== 'string' || typeof name !== 'string') return undefined;
  return { kind, ...branch, database, schema, name, isView: isView === true };
}

/** Returns the database that a row is in or stands for; undefined for the row of all databases. */
export function databaseOfRow(value: unknown): string | undefined {
  const row = asDatabaseRow(value);
  return row === undefined || row.kind === 'databases' ? undefined : row.database;
}

/** Returns the name of the database, table, column or function in a command's argument, as SQL finds it without quotes. */
export function databaseRowName(value: unknown): string | undefined {
  const { kind, database, schema, name } = fieldsOf(value);
  if (kind === 'database') return typeof database === 'string' ? database : undefined;
  if (typeof name !== 'string') return undefined;
  if (kind === 'column') return name;
  if (kind !== 'table' && kind !== 'function') return undefined;
  return typeof schema !== 'string' || schema === 'public' ? name : `${schema}.${name}`;
}

/** Returns the branch that a row of any kind is of or below; undefined for a project or a row of another view. */
export function branchOfRow(value: unknown): BranchIds | undefined {
  const { projectId, branchId } = fieldsOf(value);
  const branch = asBranchNode({ kind: 'branch', projectId, branchId });
  return branch && { projectId: branch.projectId, branchId: branch.branchId };
}
