/** What the commands do, as one bundle: nearly all of them ask by the same means, which then ship and load once. */
export * as account from './account.ts';
export * as apiKey from './apiKey.ts';
export * as apiKeyRotation from './apiKeyRotation.ts';
export * as compute from './compute.ts';
export * as computeEdit from './computeEdit.ts';
export * as computeLinks from './computeLinks.ts';
export * as copy from './copy.ts';
export * as find from './find.ts';
export * as insertHost from './insertHost.ts';
export * as localService from './localServiceCommands.ts';
export * as operations from './operations.ts';
export * as psql from './psql.ts';
export * as rotationRecovery from './rotationRecovery.ts';
export * as view from './view.ts';
export * as writeEnv from './writeEnv.ts';
