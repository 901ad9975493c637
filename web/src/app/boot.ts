import type { Me } from '../../generated/api';

/** What the server put into the page, so that the app needn't ask for it first. */
export interface Boot {
  version: string;
  public_url: string;
  me: Me | null;
}

export const boot: Boot = JSON.parse(document.getElementById('boot')?.textContent ?? '{"me":null}');
