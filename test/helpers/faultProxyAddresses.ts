/** Addresses of services that fail before a request can be sent, by the name of the fault, until the end of the test. */
import net from 'node:net';
import type { BaseUrl } from '../../src/api/transport/baseUrl.ts';
import { FaultProxy, type StubReply } from './faultProxy.ts';
import { makeCertificate, type CertificateOptions } from './faultProxyCertificate.ts';
import { listen } from './listen.ts';

/** Signs certificates whose only fault is something else. Trust it in tests of that other fault. */
export const testAuthority = makeCertificate({ isAuthority: true });

const empty: StubReply = () => ({ status: 200, json: {} });

const withCertificate = (options: CertificateOptions) => async (): Promise<BaseUrl> => {
  const { key, cert } = makeCertificate(options);
  return (await FaultProxy.start({ upstream: empty, tls: { key, cert } })).baseUrl;
};

async function withoutListener(): Promise<BaseUrl> {
  const proxy = await FaultProxy.start({ upstream: empty });
  await proxy.down();
  return proxy.baseUrl;
}

/** An HTTP server under an https address. */
async function withoutTls(): Promise<BaseUrl> {
  const { baseUrl } = await FaultProxy.start({ upstream: empty });
  return baseUrl.replace('http:', 'https:') as BaseUrl;
}

/** Accepts connections and never sends anything, not even a TLS handshake. */
async function silent(): Promise<BaseUrl> {
  return `https://127.0.0.1:${await listen(net.createServer())}/api/v2` as BaseUrl;
}

const LONG_AGO = { notBefore: new Date('2001-01-01'), notAfter: new Date('2002-01-01') };

export const FAULTY_ADDRESSES = {
  connectionRefused: withoutListener,
  unknownHost: async () => 'https://service.invalid/api/v2' as BaseUrl,
  selfSignedCertificate: withCertificate({}),
  unknownAuthority: withCertificate({ issuer: makeCertificate({ isAuthority: true }) }),
  expiredCertificate: withCertificate({ issuer: testAuthority, ...LONG_AGO }),
  otherHostsCertificate: withCertificate({ issuer: testAuthority, names: ['other.example'] }),
  noTls: withoutTls,
  silentHandshake: silent,
} as const satisfies Readonly<Record<string, () => Promise<BaseUrl>>>;

export type FaultyAddressName = keyof typeof FAULTY_ADDRESSES;
