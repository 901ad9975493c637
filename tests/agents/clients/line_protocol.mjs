// How the tests control a client; line_protocol.py describes the lines.
import { createInterface } from "node:readline"

/** Read lines and answer them; `connect` returns `{ tools, call, close }`. */
export async function serve(connect) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const given = JSON.parse((await lines.next()).value)
  given.environment = { PATH: process.env.PATH, HOME: process.env.HOME, ...given.environment }
  const client = await connect(given)
  answer({ tools: client.tools })
  for await (const line of lines) {
    const { tool, arguments: values } = JSON.parse(line)
    try {
      answer(await client.call(tool, values))
    } catch (error) {
      answer({ error: `${error.name}: ${error.message}` })
    }
  }
  await client.close()
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
