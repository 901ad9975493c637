/** Of which recorded sites the bodies of requests and responses aren't recorded. */
import { expect, test } from 'vitest';
import { listSitesWithoutBodies } from '../../src/extension/recording/body-sites';
import type { Project } from '../../src/recorder/capture-types';

const project = (bodies: string, ...url_patterns: string[]): Project =>
  ({ url_patterns, capture_policy: { bodies } }) as unknown as Project;

const everywhere = '*://*/*';

test('bodies are recorded on every recorded site without any pattern', () => {
  expect(listSitesWithoutBodies([everywhere], [project('shape')])).toEqual([]);
  expect(listSitesWithoutBodies(['https://shop.example/*'], [project('off'), project('on')])).toEqual([]);
});

test('no site has bodies if no project keeps them', () => {
  const sites = ['https://shop.example/*', 'http://localhost/*'];
  expect(listSitesWithoutBodies(sites, [project('off')])).toEqual(sites);
  expect(listSitesWithoutBodies(sites, [])).toEqual(sites);
});

test('sites of projects without bodies have none, as far as they are recorded', () => {
  const projects = [
    project('shape'),
    project('off', 'https://*.bank.example/*', 'http://localhost:3000/app*'),
  ];
  expect(listSitesWithoutBodies([everywhere], projects)).toEqual([
    'https://*.bank.example/*',
    'http://localhost/*',
  ]);
  expect(listSitesWithoutBodies(['https://pay.bank.example/*'], projects)).toEqual([
    'https://pay.bank.example/*',
  ]);
  expect(listSitesWithoutBodies(['https://shop.example/*'], projects)).toEqual([]);
});

test('a site that a project with bodies shares has them', () => {
  const off = project('off', 'https://*.example.org/private/*');
  expect(listSitesWithoutBodies([everywhere], [off, project('on', 'https://shop.example.org/*')])).toEqual(
    [],
  );
  expect(
    listSitesWithoutBodies([everywhere], [project('off', '*'), project('on', 'http://localhost/*')]),
  ).toEqual([]);
  expect(listSitesWithoutBodies([everywhere], [project('off', '*'), project('on')])).toEqual([everywhere]);
});
