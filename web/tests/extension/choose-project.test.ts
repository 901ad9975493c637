import { expect, test } from 'vitest';
import { chooseProject } from '../../src/extension/draft/choose-project';
import type { Project } from '../../src/recorder/capture-types';

const PROJECTS = [
  { id: 'all', url_patterns: ['https://*'] },
  { id: 'shop', url_patterns: ['http://localhost:*/*', 'https://shop.example/*'] },
  { id: 'admin', url_patterns: ['https://shop.example/admin/*'] },
  { id: 'home', url_patterns: ['https://home.example/'] },
] as Project[];

test.each([
  ['https://shop.example/cart', 'shop'],
  ['https://shop.example/admin/users', 'admin'],
  ['https://home.example/', 'home'],
  ['https://home.example/x', 'all'],
  ['http://localhost:5173/', 'shop'],
  ['https://other.example/', 'all'],
  ['http://other.example/', undefined],
])('%s belongs to %s', (url, id) => {
  expect(chooseProject(PROJECTS, url)?.id).toBe(id);
});

test('the text after the last asterisk must end the address', () => {
  const projects = [{ id: 'pdf', url_patterns: ['https://*.example/*/print'] }] as Project[];
  expect(chooseProject(projects, 'https://a.example/b/print')?.id).toBe('pdf');
  expect(chooseProject(projects, 'https://a.example/b/print?x=1')).toBeUndefined();
  expect(chooseProject(projects, 'https://a.example/print')).toBeUndefined();
});
