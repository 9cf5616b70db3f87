/** Addresses of services that fail before a request can be sent, by the name of the fault. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import type { BaseUrl } from '../../src/api/transport/baseUrl.ts';
import { FaultProxy, type StubReply } from './faultProxy.ts';
import { makeCertificate, type CertificateOptions } from './faultProxyCertificate.ts';

interface FaultyAddress {
  readonly baseUrl: BaseUrl;
  stop(): Promise<void>;
}

/** Signs certificates whose only fault is something else. Trust it in tests of that other fault. */
export const testAuthority = makeCertificate({ isAuthority: true });

const empty: StubReply = () => ({ status: 200, json: {} });

const withCertificate = (options: CertificateOptions) => async (): Promise<FaultyAddress> => {
  const { key, cert } = makeCertificate(options);
  return FaultProxy.start({ upstream: empty, tls: { key, cert } });
};

async function withoutListener(): Promise<FaultyAddress> {
  const proxy = await FaultProxy.start({ upstream: empty });
  await proxy.down();
  return proxy;
}

/** An HTTP server under an https address. */
async function withoutTls(): Promise<FaultyAddress> {
  const proxy = await FaultProxy.start({ upstream: empty });
  return {
    baseUrl: proxy.baseUrl.replace('http:', 'https:') as BaseUrl,
    stop: () => proxy.stop(),
  };
}

/** Accepts connections and never sends anything, not even a TLS handshake. */
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
