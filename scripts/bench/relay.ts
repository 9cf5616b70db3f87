// The least a gateway can do: pipes each TCP connection to a Unix socket and back. Prints its port.
//   node scripts/bench/relay.ts SOCKET
import net, { type AddressInfo } from 'node:net';

const [socket = ''] = process.argv.slice(2);
const server = net.createServer({ noDelay: true }, (client) => {
  const upstream = net.connect(socket);
  client.pipe(upstream).pipe(client);
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
