import assert from 'node:assert/strict';
import { parseBaseUrl } from '../../../../src/api/transport/baseUrl.ts';
import {
  consolePage,
  isPublicKey,
  isPublicService,
  PUBLIC_SERVICE,
} from '../../../../src/extension/account/publicService.ts';

describe('The public service', () => {
  it('has a normalized address', () => {
    assert.equal(parseBaseUrl(PUBLIC_SERVICE), PUBLIC_SERVICE);
    assert.ok(isPublicService(PUBLIC_SERVICE));
  });

  it('has keys of its own', () => {
    assert.deepEqual(['napi_1', 'NAPI_1', 'https://napi_1', ''].map(isPublicKey), [
      true,
      false,
      false,
      false,
    ]);
  });

  it('has a page for all projects, a project and a branch', () => {
    const root = 'https://console.neon.tech/app/projects';
    assert.equal(consolePage({}), root);
    assert.equal(consolePage({ branchId: 'br-1' }), root);
    assert.equal(consolePage({ projectId: 'calm-1' }), `${root}/calm-1`);
    assert.equal(consolePage({ projectId: 'calm-1', branchId: 'br/1' }), `${root}/calm-1/branches/br%2F1`);
  });
});
