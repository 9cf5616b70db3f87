/** The rows below a branch for its databases, and the tables and views of each. They are arguments of commands, too. */
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

/** What rows are read from. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
}

export interface TableNode extends BranchIds, TableName {
  readonly kind: 'table';
  readonly database: string;
}

/** A row that says why its parent shows no rows, or how many more it has. */
export interface DatabaseHint extends BranchIds {
  readonly kind: 'databaseHint';
  readonly parent: DatabasesNode | DatabaseNode;
  readonly hint: 'empty' | 'notRead' | 'notOffered' | { readonly error: unknown } | { readonly more: number };
}

/** Rows that load the rows below them. */
export type DatabaseParent = DatabasesNode | DatabaseNode;
export type DatabaseTreeNode = DatabaseParent | TableNode | DatabaseHint;

/** Reads a command's argument, which may be anything. */
export function asDatabaseParent(value: unknown): DatabaseParent | undefined {
  const { kind, database } = fieldsOf(value);
  const branch = branchOf(value);
  if (branch === undefined) return undefined;
  if (kind === 'databases') return { kind, ...branch };
  return kind === 'database' && typeof database === 'string' ? { kind, ...branch, database } : undefined;
}

function asTableNode(value: unknown): TableNode | undefined {
  const { kind, database, schema, name, isView } = fieldsOf(value);
  const branch = branchOf(value);
  if (kind !== 'table' || branch === undefined) return undefined;
  if (typeof database !== 'string' || typeof schema !== 'string' || typeof name !== 'string')
    return undefined;
  return { kind, ...branch, database, schema, name, isView: isView === true };
}

export const asDatabaseRow = (value: unknown): DatabaseParent | TableNode | undefined =>
  asDatabaseParent(value) ?? asTableNode(value);

function branchOf(value: unknown): BranchIds | undefined {
  const { projectId, branchId } = fieldsOf(value);
  const branch = asBranchNode({ kind: 'branch', projectId, branchId });
  return branch && { projectId: branch.projectId, branchId: branch.branchId };
}
