/** Ready configurations for a token, as docs/use/agents.md has them. */
export interface Client {
  id: string;
  label: string;
  /** Where the text goes. */
  where: string;
  text: string;
}

export function clients(secret: string, url: string): Client[] {
  const mcp = `${url}/mcp`;
  const headers = { Authorization: `Bearer ${secret}` };
  return [
    {
      id: 'claude',
      label: 'Claude Code',
      where: 'Run this in a terminal, in the folder of your project.',
      text: `claude mcp add --transport http ticketbox ${mcp} --header "Authorization: Bearer ${secret}"`,
    },
    {
      id: 'cursor',
      label: 'Cursor',
      where: 'Put this into ~/.cursor/mcp.json, or .cursor/mcp.json in your project.',
      text: json({ mcpServers: { ticketbox: { url: mcp, headers } } }),
    },
    {
      id: 'vscode',
      label: 'VS Code',
      where:
        'Put this into .vscode/mcp.json. VS Code asks for the token and keeps it, so the file can be shared.',
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
      label: 'Any, over HTTP',
      where:
        'Most MCP clients take this form; some call the block "servers". The address has no slash at the end.',
      text: json({ mcpServers: { ticketbox: { type: 'http', url: mcp, headers } } }),
    },
    {
      id: 'stdio',
      label: 'Local',
      where: 'For a client that starts servers itself. ticketbox must be installed where the client runs.',
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
      where: 'The REST API, from a terminal or a script.',
      text: `curl -H "Authorization: Bearer ${secret}" ${url}/api/v1/me`,
    },
  ];
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
