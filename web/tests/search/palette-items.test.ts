import { describe, expect, test, vi } from 'vitest';
import type { Hit, Project } from '../../generated/api';
import { overlay } from '../../src/app/core/overlay.svelte';
import { toCreateItem, toTicketItems, type PaletteItem } from '../../src/app/search/palette/palette-items';

const { go } = vi.hoisted(() => ({ go: vi.fn() }));
vi.mock('../../src/app/core/navigation/router.svelte', () => ({ router: { go } }));
vi.mock('../../src/app/core/shortcuts.svelte', () => ({ nameKeys: () => [] }));
vi.mock('../../src/app/core/workspace.svelte', () => ({
  workspace: { project: (id: string) => ({ id, name: `Project ${id}` }) },
}));

function hit(id: string, fields: Partial<Hit> = {}): Hit {
  const highlights = { title: [], excerpt: [] };
  return {
    id,
    title: `Title of ${id}`,
    status: 'active',
    resolved: false,
    key: 'WEB-1',
    project_id: '1',
    project: 'Web shop',
    highlights,
    ...fields,
  } as unknown as Hit;
}

function labels(items: PaletteItem[]): string[] {
  return items.map(({ label }) => label);
}

/** The address that an item opens. */
function address(item: PaletteItem): string {
  if (!item.completion) item.run();
  return go.mock.lastCall![0];
}

test('a text becomes the title of a new ticket', () => {
  const item = toCreateItem('Cart is empty');
  expect(item.label).toBe('Create ticket “Cart is empty”');
  if (!item.completion) item.run();
  expect([overlay.open, overlay.title]).toEqual(['new-ticket', 'Cart is empty']);
  overlay.close();
  expect([overlay.open, overlay.title]).toEqual([null, '']);
});

test('what is only in captures is one item for each message', () => {
  const findIn = (id: string, field: string, text: string, title: Hit['highlights']['title'] = []) =>
    hit(id, {
      highlights: { title, excerpt: { field, parts: [{ text, match: true }] } },
    });
  const items = toTicketItems('gift', [
    findIn('t-aaaaaa', 'console', 'gift', [{ text: 'gift', match: true }]),
    findIn('t-bbbbbb', 'console', 'gift'),
    findIn('t-cccccc', 'console', 'gift'),
    findIn('t-dddddd', 'errors', 'gift'),
    findIn('t-eeeeee', 'comments', 'gift'),
  ]);
  expect(items.map(({ group, label, hint }) => [group, label, hint])).toEqual([
    ['Tickets', 'Title of t-aaaaaa', undefined],
    ['Tickets', 'Title of t-eeeeee', undefined],
    ['In captures', 'gift', '2 tickets'],
    ['In captures', 'gift', 'WEB-1'],
    ['In captures', 'All results for “gift”', undefined],
  ]);
  expect(items.slice(2, 4).map(address)).toEqual(['/search?q=gift', '/tickets/t-dddddd/errors']);
});

describe('tickets', () => {
  test('results are followed by a link to all results', () => {
    const items = toTicketItems('Cart & basket', [hit('t-aaaaaa'), hit('t-bbbbbb')]);
    expect(labels(items)).toEqual([
      'Title of t-aaaaaa',
      'Title of t-bbbbbb',
      'All results for “Cart & basket”',
    ]);
    expect(items.map(address)).toEqual([
      '/tickets/t-aaaaaa',
      '/tickets/t-bbbbbb',
      '/search?q=Cart%20%26%20basket',
    ]);
  });

  test('all results of one project are in it', () => {
    const projects = ['Web shop', 'The "shop"'].map((name) => ({ id: 'p-aaaaaa', name }) as Project);
    const all = projects.map((each) => toTicketItems('cart', [hit('t-aaaaaa')], each)[1]!);
    expect(labels(all)).toEqual([
      'All results for “cart” in Web shop',
      'All results for “cart” in The "shop"',
    ]);
    expect(all.map(address).map(decodeURIComponent)).toEqual([
      '/search?q=cart project:"Web shop"',
      '/search?q=cart project:p-aaaaaa',
    ]);
  });

  test('no results have no link', () => {
    expect(toTicketItems('cart', [])).toEqual([]);
  });

  test('the ID of a ticket opens it in any case', () => {
    const [item] = toTicketItems('T-4K7Q2M', []);
    expect(item!.label).toBe('Open t-4k7q2m');
    expect(address(item!)).toBe('/tickets/t-4k7q2m');
  });

  test('a ticket that was found by its ID is listed once', () => {
    expect(labels(toTicketItems('t-4k7q2m', [hit('t-4k7q2m')]))).toEqual([
      'Title of t-4k7q2m',
      'All results for “t-4k7q2m”',
    ]);
  });

  test('archived and resolved tickets are faded', () => {
    const items = toTicketItems('x', [
      hit('t-a'),
      hit('t-b', { status: 'archived' }),
      hit('t-c', { resolved: true }),
    ]);
    expect(items.slice(0, 3).map(({ faded, hint }) => [faded, hint])).toEqual([
      [false, undefined],
      [true, 'Archived'],
      [true, undefined],
    ]);
  });
});
