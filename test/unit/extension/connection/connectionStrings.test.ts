import assert from 'node:assert/strict';
import fc from '../../../helpers/fastCheck.ts';
import { connectionString, tlsQuery } from '../../../../src/extension/connection/connectionStrings.ts';
import { pooledHost } from '../../../../src/api/addresses/host.ts';

const text = fc.string({ unit: 'binary', minLength: 1 });
/** `new URL` resolves these as path segments, however they are encoded. */
const database = text.filter((name) => name !== '.' && name !== '..');

describe('connectionString', () => {
  it('encodes any text so that every part can be read back', () => {
    fc.assert(
      fc.property(text, text, database, (role, password, name) => {
        const url = new URL(connectionString({ host: 'ep-a-1.example.com', role, password, database: name }));
        assert.equal(url.protocol, 'postgresql:');
        assert.equal(url.host, 'ep-a-1.example.com');
        assert.equal(decodeURIComponent(url.username), role);
        assert.equal(decodeURIComponent(url.password), password);
        assert.equal(decodeURIComponent(url.pathname.slice(1)), name);
        assert.equal(url.search, '?sslmode=require');
      }),
    );
  });

  it('has no colon without a password', () => {
    const uri = connectionString({ host: 'ep-a-1.example.com', role: 'me', database: 'shop' });
    assert.equal(uri, 'postgresql://me@ep-a-1.example.com/shop?sslmode=require');
  });

  it('requires TLS, but not on this machine', () => {
    const host = '127.0.0.1:15432';
    assert.equal(connectionString({ host, role: 'me', database: 'app' }), `postgresql://me@${host}/app`);
    assert.deepEqual([host, 'ep-a-1.example.com'].map(tlsQuery), ['', '?sslmode=require']);
  });

  it('replaces a lone surrogate', () => {
    const uri = connectionString({ host: 'h.example.com', role: 'a\ud800', database: 'd' });
    assert.equal(uri, 'postgresql://a%EF%BF%BD@h.example.com/d?sslmode=require');
  });
});

describe('pooledHost', () => {
  const host = 'ep-a-1.eu.example.com';

  it('appends -pooler to the first label if the record has no pooler host', () => {
    assert.equal(pooledHost({ host, pooler_enabled: true }), 'ep-a-1-pooler.eu.example.com');
  });

  it("returns the record's pooler host", () => {
    const compute = { host: '127.0.0.1:15432', pooler_host: '127.0.0.1:15433', pooler_enabled: true };
    assert.equal(pooledHost(compute), '127.0.0.1:15433');
  });

  it('is there for every hosted compute, because the flag says nothing there', () => {
    assert.equal(pooledHost({ host, pooler_enabled: false }), 'ep-a-1-pooler.eu.example.com');
    assert.equal(pooledHost({ host }), 'ep-a-1-pooler.eu.example.com');
  });

  it('is undefined without a pooler on this machine, and not guessed there', () => {
    const pooler_host = '127.0.0.1:15433';
    assert.equal(pooledHost({ host: '127.0.0.1:15432', pooler_host, pooler_enabled: false }), undefined);
    assert.equal(pooledHost({ host: '127.0.0.1:15432' }), undefined);
    assert.equal(pooledHost({ host: '127.0.0.1:15432', pooler_enabled: true }), undefined);
  });
});
