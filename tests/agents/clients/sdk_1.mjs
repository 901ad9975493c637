// The official TypeScript SDK, versions 1.x.
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { readContent, serve } from "./line_protocol.mjs"

const load = (name) => import(pathToFileURL(createRequire(process.env.NODE_MODULES + "/").resolve(name)))
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js")
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js")
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js")

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
    call: async (name, values) => {
      const result = await client.callTool({ name, arguments: values })
      return readContent(result.content, result.isError)
    },
    close: () => client.close(),
  }
})
