/** Services that fail before a request can be sent: by name, as addresses to give to a client. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import type { BaseUrl } from '../../src/api/baseUrl.ts';
import { FaultProxy, type Canned } from './faultProxy.ts';
import { makeCertificate, type CertificateWishes } from './faultProxyCertificate.ts';

export interface FaultyAddress {
  readonly baseUrl: BaseUrl;
  stop(): Promise<void>;
}

/** Signs what is meant to be trusted but for one thing: add it to the trusted ones where that matters. */
export const testAuthority = makeCertificate({ isAuthority: true });

const nothing: Canned = () => ({ status: 200, json: {} });

const withCertificate = (wishes: CertificateWishes) => async (): Promise<FaultyAddress> => {
  const { key, cert } = makeCertificate(wishes);
  return FaultProxy.start({ upstream: nothing, tls: { key, cert } });
};

async function withoutListener(): Promise<FaultyAddress> {
  const proxy = await FaultProxy.start({ upstream: nothing });
  await proxy.down();
  return proxy;
}

/** A server that speaks no TLS, under an https address. */
async function withoutTls(): Promise<FaultyAddress> {
  const proxy = await FaultProxy.start({ upstream: nothing });
  return {
    baseUrl: proxy.baseUrl.replace('http:', 'https:') as BaseUrl,
    stop: () => proxy.stop(),
  };
}

/** Takes connections and never says a word, not even for TLS. */
async function silent(): Promise<FaultyAddress> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2` as BaseUrl,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

const LONG_AGO = { notBefore: new Date('2001-01-01'), notAfter: new Date('2002-01-01') };

export const FAULTY_ADDRESSES = {
  connectionRefused: withoutListener,
  unknownHost: async () => ({
    baseUrl: 'https://service.invalid/api/v2' as BaseUrl,
    stop: async () => undefined,
  }),
  selfSignedCertificate: withCertificate({}),
  unknownAuthority: withCertificate({ issuer: makeCertificate({ isAuthority: true }) }),
  expiredCertificate: withCertificate({ issuer: testAuthority, ...LONG_AGO }),
  otherHostsCertificate: withCertificate({ issuer: testAuthority, names: ['other.example'] }),
  noTls: withoutTls,
  silentHandshake: silent,
} as const satisfies Readonly<Record<string, () => Promise<FaultyAddress>>>;

export type FaultyAddressName = keyof typeof FAULTY_ADDRESSES;
