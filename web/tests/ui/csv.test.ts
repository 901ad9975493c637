import { expect, test } from 'vitest';
import { joinPages } from '../../src/app/ui/downloads/csv';

test('pages are joined under one header row', async () => {
  const pages: Record<string, [string, string | undefined]> = {
    first: ['id,title\r\n1,"a\r\nb"\r\n', 'second'],
    second: ['id,title\r\n2,c\r\n', undefined],
  };
  const counts: number[] = [];
  const table = await joinPages(
    (cursor = 'first') => {
      const [data, next] = pages[cursor]!;
      const headers = new Headers(next ? { 'x-next-cursor': next } : {});
      return Promise.resolve({ data, response: new Response(null, { headers }) });
    },
    (count) => counts.push(count),
  );
  const bytes = new Uint8Array(await table.arrayBuffer());
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  expect(new TextDecoder().decode(bytes)).toBe('id,title\r\n1,"a\r\nb"\r\n2,c\r\n');
  expect(counts).toEqual([1, 2]);
});
