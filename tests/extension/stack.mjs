// Takes each stack of a JSON array on stdin apart with the extension's own code; answers its frames' addresses and its text.
// It is bundled first: one of its modules exports `then`, so it can't be imported by itself.
import { build } from 'vite';

const built = await build({
  configFile: false,
  logLevel: 'error',
  build: { write: false, minify: false, lib: { entry: 'src/recorder/stack-trace.ts', formats: ['es'] } },
});
const [{ output }] = [built].flat();
const { parseStack, removeRecorderFrames } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const stacks = JSON.parse(Buffer.concat(chunks));
const answers = stacks.map((stack) => [parseStack(stack).map(({ url }) => url), removeRecorderFrames(stack)]);
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
