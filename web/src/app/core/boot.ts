import type { Me } from '../../../generated/api';

/** A filter of the language of search (ticketbox/domain/tickets/search_filters.py). */
export interface Filter {
  key: string;
  about: string;
  takes: 'words' | 'value' | 'label' | 'person' | 'project' | 'column' | 'time';
  values: string[];
}

/** What the server put into the page, so that the app needn't ask for it first. */
export interface Boot {
  version: string;
  public_url: string;
  me: Me | null;
  filters: Filter[];
}

export const boot: Boot = JSON.parse(
  document.getElementById('boot')?.textContent ?? '{"me":null,"filters":[]}',
);
