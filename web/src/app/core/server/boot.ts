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
  /** The newest event when the page was sent. */
  last_event: string | null;
  filters: Filter[];
}

export const boot: Boot = JSON.parse(
  globalThis.document?.getElementById('boot')?.textContent ?? '{"me":null,"last_event":null,"filters":[]}',
);
