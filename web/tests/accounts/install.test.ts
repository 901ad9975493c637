import { expect, test } from 'vitest';
import { findLastUse, listAgentClients } from '../../src/app/accounts/tokens/install';

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

test('the last use of a client is the newest of the apps and tokens that carry its name', () => {
  const claude = clients.find((client) => client.id === 'claude')!;
  const use = (name: string, lastUsedAt: string | null) => ({ name, lastUsedAt });
  const [older, newer] = ['2026-11-20T10:00:00.000Z', '2026-11-21T10:00:00.000Z'];
  expect(findLastUse(claude, [use('Codex', newer)])).toBeUndefined();
  expect(findLastUse(claude, [use('Claude Code on the laptop', null)])).toBeNull();
  expect(
    findLastUse(claude, [
      use('claude code', newer),
      use('Claude Code (ticketbox)', older),
      use('Claude', null),
    ]),
  ).toBe(newer);
  const vscode = clients.find((client) => client.id === 'vscode')!;
  expect(findLastUse(vscode, [use('VS Code', older)])).toBe(older);
  expect(findLastUse(vscode, [use('Visual Studio Code', newer)])).toBe(newer);
});
