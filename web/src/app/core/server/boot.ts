import type { Me } from '../../../../generated/api';

/** A filter of the search language, as the server defines it. */
export interface Filter {
  key: string;
  about: string;
  takes: 'words' | 'value' | 'label' | 'person' | 'project' | 'column' | 'time';
  values: string[];
}

/** Data that the server embeds in the page, which saves the first requests. */
export interface Boot {
  version: string;
  public_url: string;
  me: Me | null;
  filters: Filter[];
}

export const boot: Boot = JSON.parse(
  document.getElementById('boot')?.textContent ?? '{"me":null,"filters":[]}',
);
