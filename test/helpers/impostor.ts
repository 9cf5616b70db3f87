/** Another program on a port that the local service had: what it gets to read is what the test is about. */
import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import net, { type Server, type Socket } from 'node:net';

export interface Impostor {
  /** All that clients sent. */
  received(): string;
  close(): Promise<void>;
}

/** Its answers; one without `answer` accepts connections and never says anything. */
export const IMPOSTORS: Readonly<Record<string, RequestListener | undefined>> = {
  'is silent': undefined,
  'answers 404': (_, response) => void response.writeHead(404).end(),
  // It even sends back what looks like a proof.
  'answers 200': ({ url = '' }, response) => {
    const proof = new URL(url, 'http://127.0.0.1').searchParams.get('proof') ?? '';
    response.writeHead(200, { 'x-lease-proof': proof }).flushHeaders();
  },
};

export async function startImpostor(port: number, answer: RequestListener | undefined): Promise<Impostor> {
  let received = '';
  const sockets = new Set<Socket>();
  const record: RequestListener = (request, response) => {
    received += `${request.method} ${request.url}\n${request.rawHeaders.join('\n')}\n`;
    answer?.(request, response);
  };
  const server: Server = answer === undefined ? net.createServer() : http.createServer(record);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (answer === undefined) socket.on('data', (bytes) => (received += bytes.toString()));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    received: () => received,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}
