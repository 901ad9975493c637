// Renders each text of a JSON array on stdin as the web app does; answers HTML, or what was thrown.
import { createServer } from 'vite';

globalThis.location = new URL('http://localhost:8420/tickets/t-12345678');
const server = await createServer({
  configFile: false,
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, ws: false, watch: null },
});
const { renderMarkdown } = await server.ssrLoadModule('/src/app/tickets/text/markdown.ts');
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const answers = JSON.parse(Buffer.concat(chunks)).map((text) => {
  const started = performance.now();
  try {
    return { html: renderMarkdown(text, { tasks: true }), ms: performance.now() - started };
  } catch (error) {
    return { thrown: String(error), ms: performance.now() - started };
  }
});
await server.close();
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
