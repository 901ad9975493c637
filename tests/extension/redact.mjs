// Redacts each text of a JSON array on stdin with the extension's code; prints the texts with their counts.
import { createServer } from 'vite';

const server = await createServer({
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
const { SecretScanner } = await server.ssrLoadModule('/src/recorder/redaction/secret-scanner.ts');
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { rules, texts } = JSON.parse(Buffer.concat(chunks));
const scanner = new SecretScanner(rules);
const results = texts.map((text) => {
  const counts = { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 };
  return [scanner.redact(text, counts), counts];
});
await server.close();
process.stdout.write(JSON.stringify(results), () => process.exit(0));
