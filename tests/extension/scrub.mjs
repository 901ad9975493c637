// Scrubs each text of a JSON array on stdin with the extension's own code; answers texts with their counts.
import { createServer } from 'vite';

const server = await createServer({
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
const { Scrubber } = await server.ssrLoadModule('/src/recorder/redaction/scrubber.ts');
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { rules, texts } = JSON.parse(Buffer.concat(chunks));
const scrubber = new Scrubber(rules);
const answers = texts.map((text) => {
  const counts = { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 };
  return [scrubber.scrub(text, counts), counts];
});
await server.close();
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
