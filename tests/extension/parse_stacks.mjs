// Parses each stack of a JSON array on stdin with the recorder's code; prints its frames' addresses and its text.
// It is bundled first: one of its modules exports `then`, so a dynamic import would treat the module as a promise.
import { build } from 'vite';

const bundle = await build({
  configFile: false,
  logLevel: 'error',
  build: { write: false, minify: false, lib: { entry: 'src/recorder/stack-trace.ts', formats: ['es'] } },
});
const [{ output }] = [bundle].flat();
const url = `data:text/javascript,${encodeURIComponent(output[0].code)}`;
const { parseStack, removeRecorderFrames } = await import(url);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const stacks = JSON.parse(Buffer.concat(chunks));
const results = stacks.map((stack) => [parseStack(stack).map(({ url }) => url), removeRecorderFrames(stack)]);
process.stdout.write(JSON.stringify(results), () => process.exit(0));
