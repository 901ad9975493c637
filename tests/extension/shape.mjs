// Shapes captures, each its addresses and bodies, from JSON on stdin with the extension's code; prints the bodies.
import { createServer } from 'vite';

const server = await createServer({
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
const { BodyShaper } = await server.ssrLoadModule('/src/recorder/redaction/body-shape.ts');
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const results = JSON.parse(Buffer.concat(chunks)).map(([addresses, bodies, kept]) => {
  const shaper = new BodyShaper();
  for (const address of addresses) shaper.keepAddress(address);
  for (const body of bodies) shaper.count(body);
  for (const body of kept) shaper.keepNumbers(body);
  return bodies.map((body) => shaper.shape(body));
});
await server.close();
process.stdout.write(JSON.stringify(results), () => process.exit(0));
