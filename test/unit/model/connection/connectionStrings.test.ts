import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  connectionString,
  passwordOf,
  pooledHost,
} from '../../../../src/model/connection/connectionStrings.ts';

const text = fc.string({ unit: 'binary', minLength: 1 });
/** `new URL` resolves these as path segments, however they are encoded. */
const database = text.filter((name) => name !== '.' && name !== '..');

describe('a connection string', () => {
  it('gives every part back, whatever it contains', () => {
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

  it('has no place for a password that is not given', () => {
    const uri = connectionString({ host: 'ep-a-1.example.com', role: 'me', database: 'shop' });
    assert.equal(uri, 'postgresql://me@ep-a-1.example.com/shop?sslmode=require');
  });

  it('gives its password back, as it is typed', () => {
    const login = { host: 'ep-a.example.com', role: 'me', database: 'app' };
    assert.equal(passwordOf(connectionString({ ...login, password: 'p@ss/w:rd%' })), 'p@ss/w:rd%');
    assert.equal(passwordOf(connectionString(login)), undefined);
    assert.equal(passwordOf('postgresql://me:100%@host/app'), '100%');
    assert.equal(passwordOf('no address'), undefined);
  });

  it('asks for no TLS on this machine', () => {
    const uri = connectionString({ host: '127.0.0.1:15432', role: 'me', database: 'app' });
    assert.equal(uri, 'postgresql://me@127.0.0.1:15432/app');
  });

  it('takes half a surrogate pair for what it is, a character that is not', () => {
    const uri = connectionString({ host: 'h.example.com', role: 'a\ud800', database: 'd' });
    assert.equal(uri, 'postgresql://a%EF%BF%BD@h.example.com/d?sslmode=require');
  });
});

describe('the pooled host', () => {
  const host = 'ep-a-1.eu.example.com';

  it('is the first label with -pooler, where the service tells none', () => {
    assert.equal(pooledHost({ host, pooler_enabled: true }), 'ep-a-1-pooler.eu.example.com');
  });

  it('is what the service tells', () => {
    const compute = { host: '127.0.0.1:15432', pooler_host: '127.0.0.1:15433', pooler_enabled: true };
    assert.equal(pooledHost(compute), '127.0.0.1:15433');
  });

  it('is not there without a pooler, nor guessed on this machine', () => {
    assert.equal(pooledHost({ host, pooler_enabled: false }), undefined);
    assert.equal(pooledHost({ host }), undefined);
    assert.equal(pooledHost({ host: '127.0.0.1:15432', pooler_enabled: true }), undefined);
  });
});
