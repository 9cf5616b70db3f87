import net from 'node:net';
import { Gateway } from '../../../../../src/service/postgres/network/gateway.ts';
import { pipeBothWays } from '../../../../../src/service/postgres/network/sockets.ts';
import { createServerlessListener } from '../../../../../src/service/postgres/serverlessDriver/serverlessListener.ts';
import { ensureCertificate } from '../../../../../src/service/postgres/server/certificate.ts';
import { chooseFreePort } from '../../../../../src/service/postgres/server/serverAddress.ts';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { listen } from '../../../../helpers/listen.ts';

/** Starts a gateway to a server that is no Postgres, until the end of the test. @returns its port @param beforeHttp called before what serves HTTP is loaded */
export async function gatewayTo(
  onClient: (socket: net.Socket) => void,
  beforeHttp: () => void = () => undefined,
) {
  const address = { host: '127.0.0.1', port: await listen(net.createServer(onClient)) };
  const port = await chooseFreePort();
  const gateway = await Gateway.listen(port, {
    ensureRunning: async () => address,
    running: () => address,
    certificate: ensureCertificate(temporaryFolder()),
    serveHttp: async (at) => {
      beforeHttp();
      return createServerlessListener({ port: at, sqlPort: at, allowedOrigins: [] });
    },
    activity: () => undefined,
    connect: pipeBothWays,
  });
  atEndOfTest(() => gateway.close());
  return port;
}
