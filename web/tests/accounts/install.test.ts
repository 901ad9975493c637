import { expect, test } from 'vitest';
import { listAgentClients } from '../../src/app/accounts/tokens/install';

const SITE = 'https://tickets.example.org';
const clients = listAgentClients(SITE);
const findLink = (id: string) => clients.find((client) => client.id === id)!.link!;

test('every client has the address of the endpoint and no secret', () => {
  expect(clients.map((client) => client.id)).toEqual([
    'claude',
    'codex',
    'cursor',
    'vscode',
    'gemini',
    'opencode',
  ]);
  for (const client of clients) {
    expect(client.text).toContain(`${SITE}/mcp`);
    expect(client.text).not.toMatch(/tok_|Bearer|Authorization/);
  }
});

test('the link of Cursor has the configuration in base64', () => {
  const link = new URL(findLink('cursor'));
  expect([link.protocol, link.host, link.pathname]).toEqual([
    'cursor:',
    'anysphere.cursor-deeplink',
    '/mcp/install',
  ]);
  expect(link.searchParams.get('name')).toBe('ticketbox');
  expect(JSON.parse(atob(link.searchParams.get('config')!))).toEqual({ url: `${SITE}/mcp` });
});

test('the link of VS Code has the configuration as JSON', () => {
  const [path, query] = findLink('vscode').split('?');
  expect(path).toBe('vscode:mcp/install');
  expect(JSON.parse(decodeURIComponent(query!))).toEqual({
    name: 'ticketbox',
    type: 'http',
    url: `${SITE}/mcp`,
  });
});
