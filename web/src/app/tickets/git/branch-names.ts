import type { Ticket } from '../../../../generated/api';

const MAX_LENGTH = 40;

/** The name of a ticket's branch: its key, and its first words in Latin letters: `web-15-let-customers-continue`. */
export function nameBranch({ key, title }: Pick<Ticket, 'key' | 'title'>): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  let name = key.toLowerCase();
  for (const word of plain.match(/[a-z0-9]+/g) ?? []) {
    if (name.length + 1 + word.length > MAX_LENGTH) break;
    name += `-${word}`;
  }
  return name;
}
