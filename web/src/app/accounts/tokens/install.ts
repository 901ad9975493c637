/** How a coding agent is connected with OAuth: it signs in itself, so nothing here contains a secret. */
export interface AgentClient {
  id: string;
  label: string;
  /** A part of the name with which the client registers. */
  registersAs: string;
  /** Where to put the text. */
  instruction: string;
  text: string;
  /** How to sign in after that; what to type is between backticks. */
  signIn: string;
  /** An address that opens the client and installs the server. */
  link?: string;
}

/** An app or a token with which an agent may have called: its name, and when it was last used. */
interface Credential {
  name: string;
  lastUsedAt: string | null;
}

/**
 * When a client last used an app or a token that carries its name: null if it never did, undefined if there is none.
 */
export function findLastUse(client: AgentClient, credentials: Credential[]): string | null | undefined {
  const names = [client.registersAs, client.label.toLowerCase()];
  const uses = credentials
    .filter(({ name }) => names.some((each) => name.toLowerCase().includes(each)))
    .map((each) => each.lastUsedAt);
  return uses.length === 0
    ? undefined
    : (uses
        .filter((each) => each !== null)
        .sort()
        .at(-1) ?? null);
}

const NAME = 'ticketbox';

/** The clients that have install instructions, for the instance at an address. */
export function listAgentClients(url: string): AgentClient[] {
  const mcp = `${url}/mcp`;
  return [
    {
      id: 'claude',
      label: 'Claude Code',
      registersAs: 'claude',
      instruction: 'Run this command in your project folder.',
      text: `claude mcp add --transport http ${NAME} ${mcp}`,
      signIn: 'Type `/mcp` in Claude Code, select ticketbox and approve access in the browser.',
    },
    {
      id: 'codex',
      label: 'Codex',
      registersAs: 'codex',
      instruction: 'Run this command in a terminal.',
      text: `codex mcp add ${NAME} --url ${mcp}`,
      signIn: 'Approve access in the browser. To sign in later, run `codex mcp login ticketbox`.',
    },
    {
      id: 'cursor',
      label: 'Cursor',
      registersAs: 'cursor',
      instruction: 'Install it in Cursor, or add this to ~/.cursor/mcp.json.',
      text: formatJson({ mcpServers: { [NAME]: { url: mcp } } }),
      signIn: 'Select Connect next to ticketbox in Cursor’s MCP settings and approve access in the browser.',
      link: buildCursorLink(mcp),
    },
    {
      id: 'vscode',
      label: 'VS Code',
      registersAs: 'visual studio code',
      instruction: 'Install it in VS Code, or add this to .vscode/mcp.json.',
      text: formatJson({ servers: { [NAME]: { type: 'http', url: mcp } } }),
      signIn: 'Start the server when VS Code offers it and approve access in the browser.',
      link: buildVsCodeLink(mcp),
    },
    {
      id: 'gemini',
      label: 'Gemini CLI',
      registersAs: 'gemini',
      instruction: 'Run this command in your project folder.',
      text: `gemini mcp add --transport http ${NAME} ${mcp}`,
      signIn: 'Type `/mcp auth ticketbox` in Gemini CLI and approve access in the browser.',
    },
    {
      id: 'opencode',
      label: 'opencode',
      registersAs: 'opencode',
      instruction: 'Add this to opencode.json in your project folder.',
      text: formatJson({
        $schema: 'https://opencode.ai/config.json',
        mcp: { [NAME]: { type: 'remote', url: mcp, enabled: true } },
      }),
      signIn: 'Run `opencode mcp auth ticketbox` and approve access in the browser.',
    },
  ];
}

/** https://cursor.com/docs/context/mcp/install-links */
function buildCursorLink(mcp: string): string {
  const config = encodeURIComponent(btoa(JSON.stringify({ url: mcp })));
  return `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${config}`;
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url */
function buildVsCodeLink(mcp: string): string {
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url: mcp }))}`;
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
