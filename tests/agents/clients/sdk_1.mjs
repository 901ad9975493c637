// The official TypeScript SDK, versions 1.x.
import { load, serveSdk } from "./sdk.mjs"

await serveSdk({
  ...(await load("@modelcontextprotocol/sdk/client/index.js")),
  ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  ...(await load("@modelcontextprotocol/sdk/client/stdio.js")),
  callTool: (client, call, options) => client.callTool(call, undefined, options),
})
