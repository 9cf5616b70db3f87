import assert from 'node:assert/strict';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseKey,
  leaseProof,
  newLeaseSecret,
  parsePostgresLine,
  formatPostgresLine,
} from '../../../src/localService/leaseProof.ts';
import { isSendableKey } from '../../../src/api/records/ids.ts';

const challenge = { secret: 'secret', nonce: 'n1', baseUrl: 'http://127.0.0.1:1/api/v2' };

describe('a lease proof', () => {
  it('proves knowledge of the secret', () => {
    const proof = leaseProof('window', challenge);
    assert.match(proof, /^[\w-]{43}$/);
    assert.ok(isLeaseProof('window', challenge, proof));
    assert.equal(LEASE_PROOF_HEADER, 'x-lease-proof');
  });

  it('is valid for one side, secret, nonce and address only', () => {
    const proof = leaseProof('window', challenge);
    assert.ok(!isLeaseProof('service', challenge, proof));
    for (const name of ['secret', 'nonce', 'baseUrl'] as const)
      assert.ok(!isLeaseProof('window', { ...challenge, [name]: `${challenge[name]}2` }, proof), name);
  });

  it('rejects text of another length and values that are not text', () => {
    const proof = leaseProof('window', challenge);
    for (const value of ['', proof.slice(1), `${proof}x`, [proof], null, undefined, 7])
      assert.ok(!isLeaseProof('window', challenge, value));
  });

  it('has a new secret of 32 bytes each time', () => {
    const secret = newLeaseSecret();
    assert.match(secret, /^[\w-]{43}$/);
    assert.notEqual(newLeaseSecret(), secret);
  });
});

describe('the key of a lease', () => {
  it('can be sent, and differs from the proofs', () => {
    const key = leaseKey(challenge);
    assert.ok(typeof key === 'string' && isSendableKey(key));
    for (const side of ['window', 'service'] as const) assert.ok(!isLeaseProof(side, challenge, key));
  });
});

describe('parsePostgresLine', () => {
  it('returns the problem, if there is one', () => {
    assert.equal(parsePostgresLine(formatPostgresLine(undefined)), undefined);
    assert.equal(parsePostgresLine(formatPostgresLine('missing')), 'missing');
  });

  it('throws for an incomplete line', () => {
    for (const line of ['', '{', '{"problem":"mis'])
      assert.throws(() => parsePostgresLine(line), SyntaxError);
  });
});
