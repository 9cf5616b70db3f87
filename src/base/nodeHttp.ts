/**
 * Node's HTTP without an `import`. An import reads every export of the module, also `WebSocket`, which loads all of undici: 27 ms of
 * the 70 ms that our programs need to start. Import types as usual.
 */
import type { ClientRequest, RequestOptions } from 'node:http';
import { Socket } from 'node:net';

export const { createServer } = process.getBuiltinModule('node:http');
const { Agent, ClientRequest: PossiblyReplaced } = process.getBuiltinModule('node:http');

/** Node's own class. MSW replaces it, as well as `request` and `get`, by a proxy that still has the prototype of Node's. */
const OwnRequest = PossiblyReplaced.prototype.constructor as new (
  url: string | URL,
  options: RequestOptions,
) => ClientRequest;

/** Node's `http.request`, also if a library such as MSW has replaced it before this module was loaded. */
export const request = (url: string | URL, options: RequestOptions): ClientRequest =>
  new OwnRequest(url, options);

// It is called as the method of a socket below, so it needs no binding.
// oxlint-disable-next-line typescript/unbound-method
const { connect } = Socket.prototype;

/**
 * Creates a socket with Node's own `connect`, as it was when this module was loaded. Libraries such as nock later replace
 * `Socket.prototype.connect` to intercept what tests send.
 */
export function createDirectSocket(): Socket {
  const socket = new Socket();
  socket.connect = connect;
  return socket;
}

/** An agent that makes a connection for each request, without a proxy of the environment. */
export const directAgent = new Agent({ keepAlive: false });
directAgent.createConnection = ({ host, port }) =>
  createDirectSocket()
    .setNoDelay()
    .connect({ host: host ?? '', port: Number(port) });
