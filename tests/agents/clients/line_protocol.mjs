// How the tests control a client; line_protocol.py describes the lines.
import { createInterface } from "node:readline"

/** Read lines and answer them; `connect` returns `{ tools, call, close }`. */
export async function serve(connect) {
  const clients = []
  for await (const line of createInterface({ input: process.stdin })) {
    const { connection, tool, arguments: values, seconds, ...given } = JSON.parse(line)
    if (given.transport) {
      given.environment = { PATH: process.env.PATH, HOME: process.env.HOME, ...given.environment }
      clients.push(await connect(given))
      answer({ tools: clients.at(-1).tools })
      continue
    }
    try {
      answer(await clients[connection].call(tool, values, seconds))
    } catch (error) {
      answer({ error: `${error.name}: ${error.message}` })
    }
  }
  for (const client of clients) await client.close()
}

function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n")
}

/** Return the answer for the content blocks of a tool's result. */
export function readContent(content, isError) {
  return {
    texts: content.filter((part) => part.type === "text").map((part) => part.text),
    pictures: content.filter((part) => part.type === "image").map((part) => part.data),
    is_error: Boolean(isError),
  }
}
