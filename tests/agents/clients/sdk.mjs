// What the versions of the official TypeScript SDK share: how a client connects, lists and calls tools.
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { readContent, serve } from "./line_protocol.mjs"

/** Import a module of the client's packages. */
export function load(name) {
  return import(pathToFileURL(createRequire(process.env.NODE_MODULES + "/").resolve(name)))
}

/** Serve the tests with the classes of one version; `callTool` calls a tool of a client with options. */
export async function serveSdk({ Client, StreamableHTTPClientTransport, StdioClientTransport, callTool }) {
  await serve(async (given) => {
    const [command, ...args] = given.command
    const transport =
      given.transport === "http"
        ? new StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers: given.headers } })
        : new StdioClientTransport({ command, args, env: given.environment })
    const client = new Client({ name: "test", version: "1" })
    await client.connect(transport)
    const { tools } = await client.listTools()
    return {
      tools: tools.map((tool) => tool.name),
      call: async (name, values, seconds) => {
        const options = seconds ? { timeout: seconds * 1000 } : undefined
        const result = await callTool(client, { name, arguments: values }, options)
        return readContent(result.content, result.isError)
      },
      close: () => client.close(),
    }
  })
}
