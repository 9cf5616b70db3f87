/**
 * A separate service process, for tests that kill it: an engine with one primary (and optionally a replica and a
 * pooler) on a given folder. Prints their addresses as one line of JSON. SIGTERM ends it cleanly.
 *
 *     node serviceProcess.ts DATA_DIR PORT POOLER_PORT [pooler]
 */
import { startControlPlane } from './controlPlane.ts';

const [dataDir, port, poolerPort, pooled] = process.argv.slice(2);
const service = await startControlPlane({ dataDir: dataDir ?? '', inThisProcess: true });
const compute = await service.create({
  address: { port: Number(port), poolerPort: Number(poolerPort) },
  poolerEnabled: pooled === 'pooler',
});
process.once('SIGTERM', () => {
  void service.close().then(() => process.exit());
});
process.stdout.write(`${JSON.stringify({ uri: await service.uri(compute) })}\n`);
