/** A client configuration with a token, as in docs/use/agents.md. */
export interface ClientConfig {
  id: string;
  label: string;
  /** Where to put the text. */
  instruction: string;
  text: string;
}

/** The configurations of all supported clients. */
export function clientConfigs(secret: string, url: string): ClientConfig[] {
  const mcp = `${url}/mcp`;
  const headers = { Authorization: `Bearer ${secret}` };
  return [
    {
      id: 'claude',
      label: 'Claude Code',
      instruction: 'Run this in a terminal in your project folder.',
      text: `claude mcp add --transport http ticketbox ${mcp} --header "Authorization: Bearer ${secret}"`,
    },
    {
      id: 'cursor',
      label: 'Cursor',
      instruction: 'Put this into ~/.cursor/mcp.json, or .cursor/mcp.json in your project.',
      text: json({ mcpServers: { ticketbox: { url: mcp, headers } } }),
    },
    {
      id: 'vscode',
      label: 'VS Code',
      instruction:
        'Put this into .vscode/mcp.json. VS Code asks for the token and stores it outside the file.',
      text: json({
        servers: {
          ticketbox: {
            type: 'http',
            url: mcp,
            headers: { Authorization: 'Bearer ${input:ticketbox-token}' },
          },
        },
        inputs: [{ id: 'ticketbox-token', type: 'promptString', description: 'API token', password: true }],
      }),
    },
    {
      id: 'http',
      label: 'Other (HTTP)',
      instruction:
        'Most MCP clients accept this format; some call the block "servers". The URL has no trailing slash.',
      text: json({ mcpServers: { ticketbox: { type: 'http', url: mcp, headers } } }),
    },
    {
      id: 'stdio',
      label: 'Other (stdio)',
      instruction: 'For a client that starts MCP servers. Requires ticketbox on the same machine.',
      text: json({
        mcpServers: {
          ticketbox: {
            command: 'ticketbox',
            args: ['mcp'],
            env: { SERVICE_API_TOKEN: secret, TICKETBOX_URL: url },
          },
        },
      }),
    },
    {
      id: 'curl',
      label: 'curl',
      instruction: 'The REST API, from a terminal or a script.',
      text: `curl -H "Authorization: Bearer ${secret}" ${url}/api/v1/me`,
    },
  ];
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
