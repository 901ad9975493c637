import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/app/core/navigation/routes';

describe('parsePath', () => {
  test.each([
    ['/', { name: 'home' }],
    ['/projects/proj_1', { name: 'board', project: 'proj_1', view: 'board' }],
    ['/projects/proj_1/table', { name: 'board', project: 'proj_1', view: 'table' }],
    ['/projects/proj_1/archive', { name: 'board', project: 'proj_1', view: 'archive' }],
    ['/projects/proj_1/', { name: 'board', project: 'proj_1', view: 'board' }],
    ['/projects/proj_1/table/', { name: 'board', project: 'proj_1', view: 'table' }],
    ['/tickets/t-1', { name: 'ticket', ticket: 't-1', tab: null }],
    ['/tickets/t-1/network', { name: 'ticket', ticket: 't-1', tab: 'network' }],
    ['/settings', { name: 'settings', section: '' }],
    ['/settings/tokens', { name: 'settings', section: 'tokens' }],
    ['/companies/comp_1', { name: 'company', company: 'comp_1', section: 'general' }],
    ['/companies/comp_1/webhooks', { name: 'company', company: 'comp_1', section: 'webhooks' }],
    ['/search', { name: 'search' }],
    ['/inbox', { name: 'inbox' }],
    ['/invitations/tok_1', { name: 'invitation', secret: 'tok_1' }],
  ])('%s', (path, route) => {
    expect(parsePath(path)).toEqual(route);
  });

  test.each([
    '/nowhere',
    '/projects',
    '/projects/',
    '/projects/proj_1/calendar',
    '/tickets/',
    '/companies',
    '/invitations',
    '/%E0%A4%A',
  ])('%s is not found', (path) => {
    expect(parsePath(path)).toEqual({ name: 'notFound' });
  });

  test('decodes percent-encoded segments', () => {
    expect(parsePath('/tickets/a%20b')).toEqual({ name: 'ticket', ticket: 'a b', tab: null });
  });
});
