// Vercel's AI SDK: what its tools return for the model (`toModelOutput`).
import { createRequire } from "node:module"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { serve } from "./line_protocol.mjs"

const folder = path.join(process.env.NODE_MODULES, "@ai-sdk", "mcp", "dist")
const load = (name) => import(pathToFileURL(path.join(folder, name)))
const { createMCPClient } = await load("index.js")
const { Experimental_StdioMCPTransport: StdioTransport } = await load("mcp-stdio/index.js")

await serve(async (given) => {
  const [command, ...args] = given.command
  const transport =
    given.transport === "http"
      ? { type: "http", url: given.url, headers: given.headers }
      : new StdioTransport({ command, args, env: given.environment })
  const client = await createMCPClient({ transport })
  const tools = await client.tools()
  return {
    tools: Object.keys(tools),
    call: async (name, values) => {
      const options = { toolCallId: "1", messages: [] }
      const output = await tools[name].execute(values, options)
      const shown = await tools[name].toModelOutput({ toolCallId: "1", input: values, output })
      const parts = Array.isArray(shown.value) ? shown.value : [{ type: "text", text: JSON.stringify(shown.value) }]
      return {
        texts: parts.filter((part) => part.type === "text").map((part) => part.text),
        pictures: parts.filter((part) => part.type !== "text").map((part) => part.data?.data ?? part.data),
        is_error: Boolean(output.isError),
      }
    },
    close: () => client.close(),
  }
})
