import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Gateway } from '../../../../../src/service/postgres/network/gateway.ts';
import { pipeBothWays } from '../../../../../src/service/postgres/network/sockets.ts';
import { createServerlessListener } from '../../../../../src/service/postgres/serverlessDriver/serverlessListener.ts';
import { ensureCertificate } from '../../../../../src/service/postgres/server/certificate.ts';
import { chooseFreePort } from '../../../../../src/service/postgres/server/serverAddress.ts';

/** Starts a gateway to a server that is no Postgres. @param beforeHttp called before what serves HTTP is loaded */
export async function gatewayTo(
  onClient: (socket: net.Socket) => void,
  beforeHttp: () => void = () => undefined,
) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onClient(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: behind } = server.address() as net.AddressInfo;
  const address = { host: '127.0.0.1', port: behind };
  const port = await chooseFreePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-test-'));
  const gateway = await Gateway.listen(port, {
    ensureRunning: async () => address,
    running: () => address,
    certificate: ensureCertificate(folder),
    serveHttp: async (at) => {
      beforeHttp();
      return createServerlessListener({ port: at, sqlPort: at, allowedOrigins: [] });
    },
    activity: () => undefined,
    connect: pipeBothWays,
  });
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await gateway.close();
    rmSync(folder, { recursive: true });
  };
  return { port, close };
}
