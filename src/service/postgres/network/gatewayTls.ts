/**
 * TLS of a compute's address ends in the gateway, because the start-up packet is inside. The gateway opens another connection
 * with TLS to the server, which has the same certificate: a password's proof can be bound to it (SCRAM with channel binding)
 * at both ends, because what is bound is the hash of the certificate.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type net from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { Certificate } from '../server/certificate.ts';
import { sendAndAwaitAnswer } from './sockets.ts';

/**
 * A client that begins TLS directly, without an SSL request, must name this protocol, so that no page or program can be made to
 * send another one here.
 */
const ALPN_PROTOCOL = 'postgresql';
/** The packet by which a client asks for TLS, and the answer of a server that accepts it. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = 'S';

/** Begins TLS with clients and servers. */
export class GatewayTls {
  readonly #certificate: Certificate;
  #contexts: Promise<Contexts> | undefined;

  constructor(certificate: Certificate) {
    this.#certificate = certificate;
  }

  /** Begins TLS with a client. @param isDirect whether it has sent its TLS handshake, which is still unread, without an SSL request */
  async accept(client: net.Socket, isDirect: boolean): Promise<net.Socket> {
    const { atClients: secureContext } = await this.#load();
    if (!isDirect) client.write(ACCEPTED);
    const secured = new (loadTls().TLSSocket)(client, {
      isServer: true,
      secureContext,
      ALPNProtocols: [ALPN_PROTOCOL],
    });
    if (isDirect) secured.once('secure', () => secured.alpnProtocol === ALPN_PROTOCOL || secured.destroy());
    return secured;
  }

  /** Asks a server for TLS. @param server without TLS yet @throws if it isn't ours, or closes the connection */
  async connect(server: net.Socket): Promise<net.Socket> {
    const { atServers: secureContext } = await this.#load();
    const answer = (await sendAndAwaitAnswer(server, SSL_REQUEST)).read() as Buffer;
    // More bytes would be an attempt to have them read as if they were encrypted.
    if (answer.toString() !== ACCEPTED) throw new Error('the server did not accept TLS');
    // The check isn't left to Node's default, which NODE_TLS_REJECT_UNAUTHORIZED turns off.
    const secured: TLSSocket = loadTls().connect({
      socket: server,
      secureContext,
      host: 'localhost',
      rejectUnauthorized: true,
    });
    await once(secured, 'secureConnect');
    return secured;
  }

  /** Loads the code when it is needed, because loading it takes 9 ms. A failure isn't kept. */
  async #load(): Promise<Contexts> {
    const contexts = (this.#contexts ??= readContexts(this.#certificate));
    contexts.catch(() => (this.#contexts = undefined));
    return contexts;
  }
}

interface Contexts {
  readonly atClients: SecureContext;
  /**
   * The context of connections to servers. It trusts only our own certificate and presents none: PgBouncer would ask for it and
   * reject it.
   */
  readonly atServers: SecureContext;
}

async function readContexts({ certFile, keyFile }: Certificate): Promise<Contexts> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  const create = loadTls().createSecureContext;
  return { atClients: create({ cert, key }), atServers: create({ ca: cert }) };
}

const loadTls = () => process.getBuiltinModule('node:tls');
