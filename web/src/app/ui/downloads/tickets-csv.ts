import type { paths } from '../../../../generated/api';
import { api } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';
import { formatNumber } from '../time/dates';
import { downloadCsv } from './csv';

type Query<Path extends '/tickets.csv' | '/search.csv'> = NonNullable<
  paths[Path]['get']['parameters']['query']
>;

const NAME = 'tickets.csv';
const PAGE_SIZE = 100;

/** Download all tickets of a list, in its order. Shows errors. */
export function downloadTickets(query: Query<'/tickets.csv'>): Promise<void> {
  return download((cursor) =>
    api.GET('/tickets.csv', { params: { query: { ...query, limit: PAGE_SIZE, cursor } }, parseAs: 'text' }),
  );
}

/** Download all tickets that a search finds. Shows errors. */
export function downloadResults(query: Query<'/search.csv'>): Promise<void> {
  return download((cursor) =>
    api.GET('/search.csv', { params: { query: { ...query, limit: PAGE_SIZE, cursor } }, parseAs: 'text' }),
  );
}

async function download(fetchPage: Parameters<typeof downloadCsv>[1]): Promise<void> {
  try {
    await downloadCsv(NAME, fetchPage, (pages) => {
      if (pages > 1) toasts.show(`Preparing ${NAME}: ${formatNumber(pages * PAGE_SIZE)} rows`);
    });
    toasts.show(`${NAME} downloaded`);
  } catch (error) {
    toasts.showError(error);
  }
}
