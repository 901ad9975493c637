import type { Event, WorkQuestion, WorkSession, WorkState } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';
import { isAgent } from './workers';

const DEBOUNCE_MS = 300;
const LIMIT = 100;
const TYPES = /^ticket\.(work_|question_|approval_|approved|declined|archived|restored)/;

/** Call `change` soon after an event of agents' work, and once for several, until the returned function is called. */
export function watchWork(change: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unsubscribe = eventStream.subscribe((event: Event) => {
    if (!TYPES.test(event.type)) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      change();
    }, DEBOUNCE_MS);
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
}

/** Load the newest sessions of agents in a state, in a company or in all. Raises Problem. */
async function loadSessions(state: WorkState): Promise<WorkSession[]> {
  const query = { state, limit: LIMIT };
  return (await unwrap(api.GET('/work-sessions', { params: { query } }))).items;
}

/** Load the newest session of a ticket, running or not. Raises Problem. */
export async function loadNewestSession(ticket: string): Promise<WorkSession | null> {
  const query = { ticket_id: ticket, limit: 1 };
  return (await unwrap(api.GET('/work-sessions', { params: { query } }))).items[0] ?? null;
}

/** Answer an agent's question, or decide its request, with a note. Raises Problem. */
export async function answerQuestion(question: WorkQuestion, answer: string, note?: string): Promise<void> {
  if (question.kind !== 'question') {
    const params = { path: { session_id: question.session_id } };
    const body = { approve: answer === 'approved', note, question_id: question.id };
    await unwrap(api.POST('/work-sessions/{session_id}/approval', { params, body, keepalive: true }));
    return;
  }
  const path = { question_id: question.id };
  const body = { answer };
  await unwrap(api.POST('/questions/{question_id}/answer', { params: { path }, body, keepalive: true }));
}

/** The sessions of agents that run now, on all tickets that the person sees. Events keep them up to date. */
class RunningSessions {
  items = $state.raw<WorkSession[]>([]);
  readonly #byTicket = $derived(new Map(this.items.map((session) => [session.ticket.id, session])));

  /** Keep the list up to date until the returned function is called. */
  watch(): () => void {
    const stop = watchWork(() => void this.refresh());
    void eventStream.opened.then(() => this.refresh());
    return stop;
  }

  async refresh(): Promise<void> {
    try {
      const [waiting, active] = await Promise.all([loadSessions('awaiting_input'), loadSessions('active')]);
      const ids = new Set(waiting.map(({ id }) => id)); // one that just asked may be in both answers
      this.items = [...waiting, ...active.filter(({ id }) => !ids.has(id))].filter(({ by }) => isAgent(by));
    } catch {
      // the next event loads them again
    }
  }

  /** The session on a ticket, if an agent works on it. */
  find(ticket: string): WorkSession | undefined {
    return this.#byTicket.get(ticket);
  }
}

export const runningSessions = new RunningSessions();
