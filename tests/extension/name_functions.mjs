// Names the function around each offset of each text of a JSON array on stdin: [text, offsets].
import { build } from 'vite';

const entry = 'src/extension/source-maps/function-scopes.ts';
const bundle = await build({
  configFile: false,
  logLevel: 'error',
  build: { write: false, minify: false, lib: { entry, formats: ['es'] } },
});
const [{ output }] = [bundle].flat();
const url = `data:text/javascript,${encodeURIComponent(output[0].code)}`;
const { findFunction, readFunctions } = await import(url);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const results = JSON.parse(Buffer.concat(chunks)).map(([text, offsets]) => {
  const functions = readFunctions(text);
  return offsets.map((offset) => findFunction(functions, offset));
});
process.stdout.write(JSON.stringify(results), () => process.exit(0));
