// The official TypeScript SDK, versions 2.x.
import { load, serveSdk } from "./sdk.mjs"

await serveSdk({
  ...(await load("@modelcontextprotocol/client")),
  ...(await load("@modelcontextprotocol/client/stdio")),
  callTool: (client, call, options) => client.callTool(call, options),
})
