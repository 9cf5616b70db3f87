/** What the commands do, as one bundle: nearly all of them ask by the same means, which then ship and load once. */
export * as account from './account/account.ts';
export * as apiKey from './apiKey/apiKey.ts';
export * as apiKeyRotation from './apiKey/apiKeyRotation.ts';
export * as compute from './compute/compute.ts';
export * as computeEdit from './compute/editCompute.ts';
export * as computeLinks from './compute/computeLinks.ts';
export * as copy from './connection/copy.ts';
export * as find from './compute/find.ts';
export * as insertHost from './connection/insertHost.ts';
export * as localService from './account/localService.ts';
export * as operations from './operation/operations.ts';
export * as psql from './connection/psql.ts';
export * as rotationRecovery from './apiKey/rotationRecovery.ts';
export * as view from './view.ts';
export * as writeEnv from './connection/writeEnv.ts';
