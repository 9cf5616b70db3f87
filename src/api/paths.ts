/** Paths of the service's resources. Only checked ids are put into a path. */
import { ApiError } from './transport/errors.ts';
import { isBranchId, isComputeId, isId, isOperationId } from './records/ids.ts';

/** How many projects one request lists: the public service's maximum. */
export const PROJECTS_PER_PAGE = 400;

/** Returns a value as a part of a path, if it is valid. @throws {ApiError} invalidRequest */
export const pathSegment = (value: string | number, isValid: boolean, expected: string): string => {
  if (isValid) return String(value);
  const shown = JSON.stringify(String(value).slice(0, 60));
  throw new ApiError(`${shown} is not ${expected}`, { kind: 'invalidRequest' });
};

export const projectPath = (id: string): string => `/projects/${pathSegment(id, isId(id), 'a project id')}`;

export const operationPath = (projectId: string, id: string): string =>
  `${projectPath(projectId)}/operations/${pathSegment(id, isOperationId(id), 'an operation id')}`;

export const connectionUriPath = (projectId: string): string => `${projectPath(projectId)}/connection_uri`;

export const computesPath = (projectId: string): string => `${projectPath(projectId)}/endpoints`;

export const computePath = (projectId: string, id: string): string =>
  `${computesPath(projectId)}/${pathSegment(id, isComputeId(id), 'a compute id')}`;

export const branchesPath = (projectId: string): string => `${projectPath(projectId)}/branches`;

export const branchPath = (projectId: string, id: string): string =>
  `${branchesPath(projectId)}/${pathSegment(id, isBranchId(id), 'a branch id')}`;

export const databasesPath = (projectId: string, branchId: string): string =>
  `${branchPath(projectId, branchId)}/databases`;

export const snapshotsPath = (projectId: string): string => `${projectPath(projectId)}/snapshots`;

export const snapshotPath = (projectId: string, id: string): string =>
  `${snapshotsPath(projectId)}/${pathSegment(id, isId(id), 'a snapshot id')}`;

/** A role may have any name, but `.` and `..` are rejected like an empty one, because they change the path of a URL. */
export const rolePath = (projectId: string, branchId: string, role: string): string => {
  const name = pathSegment(encodeURIComponent(role.toWellFormed()), !/^\.{0,2}$/.test(role), 'a role');
  return `${branchPath(projectId, branchId)}/roles/${name}`;
};
