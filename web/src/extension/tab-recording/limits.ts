/** How much of a tab's earlier documents is kept. */
import type { StreamName } from '../../recorder/capture-types';

/** How long before a document is left its entries are kept. */
export const KEPT_MS = 120_000;
export const MAX_DOCUMENTS = 5;
/** Frames of the kept documents that were left. */
export const MAX_FRAMES = 100;
export const MAX_ENTRIES: { [name in StreamName]: number } = {
  console: 2_000,
  network: 2_000,
  errors: 500,
  actions: 500,
};
/** The newest entries of a stream that a document sends when it is left. More would delay the next page. */
export const MAX_TAIL = 1_000;

/** How many names a capture has of what the documents had stored when they were opened. */
export const MAX_STORED = 50;
