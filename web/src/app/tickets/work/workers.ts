import type { By, Claim, Ticket, WorkSession } from '../../../../generated/api';

/** A work session; of one that is only known from its ticket's claim, the last sign of life is unknown. */
export type Session = Omit<WorkSession, 'last_seen' | 'ticket'> & { last_seen: string | null };

/** Whether an agent or a script did it with a token, not a person in the web app or with the extension. */
export function isAgent(by: By): boolean {
  return by.token_label !== null && by.via !== 'extension';
}

/** Who did it, as people call them: an agent's token has a label, a person has a name. */
export function nameWorker(by: By): string {
  return isAgent(by) ? by.token_label! : by.user.name;
}

/** What is known of a session from the claim that it holds. */
function buildSession(claim: Claim): Session {
  return {
    id: claim.session_id,
    by: claim.by,
    run: claim.run,
    state: claim.state,
    note: null,
    plan: [],
    links: [],
    usage: null,
    repository: claim.repository,
    question: null,
    started: claim.by.at,
    last_seen: null,
    until: claim.until,
    ended: null,
  };
}

/** The agent's session that holds a ticket's claim: the loaded one, or what the claim says about it. */
export function findSession(ticket: Pick<Ticket, 'claim'>, loaded?: Session | null): Session | null {
  const claim = ticket.claim;
  if (!claim || !isAgent(claim.by)) return null;
  return loaded?.id === claim.session_id ? loaded : buildSession(claim);
}
