import type { ConnectedApp, Ticket } from '../../../../generated/api';
import { withBase } from '../../core/navigation/base';
import { router } from '../../core/navigation/router.svelte';
import { withPassword } from '../../core/confirmation.svelte';
import { api, fetchAll, unwrap } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';
import { toasts } from '../../core/toasts.svelte';
import { runningSessions } from '../work/work-sessions.svelte';

const SHOP = 'Sample shop';
const isExtension = ({ name }: ConnectedApp) => name === 'ticketbox browser extension';

/** The steps from an empty company to an agent at work. The page sees when one is done, also in another tab. */
class FirstSteps {
  isLoaded = $state(false);
  hasExtension = $state(false);
  hasCapture = $state(false);
  /** The first capture, if it came while the page was open. */
  captured = $state.raw<Ticket | null>(null);
  #hasUsedAgent = $state(false);
  #company = '';
  readonly hasAgent = $derived(this.#hasUsedAgent || runningSessions.items.length > 0);
  readonly done = $derived([this.hasCapture, this.hasExtension, this.hasAgent].filter(Boolean).length);

  /** Keep the steps up to date until the returned function is called. */
  watch(company: string): () => void {
    if (company !== this.#company) {
      this.isLoaded = this.hasCapture = false;
      this.captured = null;
    }
    this.#company = company;
    const loadApps = () => void this.#loadApps().catch(() => undefined);
    void eventStream.opened
      .then(() => Promise.all([this.#loadApps(), this.#loadCaptures(company)]))
      .then(() => (this.isLoaded = true))
      .catch(() => undefined); // without an answer, no steps are shown
    const unsubscribe = eventStream.subscribe((event) => {
      if (event.type !== 'capture.attached' || event.company_id !== company || !event.ticket_id) return;
      if (!this.hasCapture) void this.#showCaptured(event.ticket_id);
    });
    addEventListener('focus', loadApps); // apps connect in another tab
    return () => {
      unsubscribe();
      removeEventListener('focus', loadApps);
    };
  }

  async #loadApps(): Promise<void> {
    const [apps, tokens] = await Promise.all([
      fetchAll((cursor) => api.GET('/connected-apps', { params: { query: { cursor, limit: 100 } } })),
      fetchAll((cursor) => api.GET('/tokens', { params: { query: { cursor, limit: 100 } } })),
    ]);
    this.hasExtension = apps.some(isExtension);
    this.#hasUsedAgent =
      apps.some((app) => !isExtension(app)) ||
      tokens.some(({ kind, last_used_at }) => kind === 'api' && last_used_at !== null);
  }

  async #loadCaptures(company: string): Promise<void> {
    const query = { q: 'has:capture -label:sample', company_id: company, status: 'all' as const, limit: 1 };
    const { items } = await unwrap(api.GET('/search', { params: { query } }));
    this.hasCapture = items.length > 0;
  }

  async #showCaptured(id: string): Promise<void> {
    const ticket = await unwrap(
      api.GET('/tickets/{ticket_id}', { params: { path: { ticket_id: id } } }),
    ).catch(() => null);
    if (!ticket || this.hasCapture || ticket.labels.includes('sample')) return;
    this.hasCapture = true;
    this.captured = ticket;
    toasts.show(`Your first bug is captured: ${ticket.title}`, {
      label: 'Open ticket',
      run: () => router.go(`/tickets/${ticket.id}`),
    });
  }
}

export const firstSteps = new FirstSteps();

/** Open the sample shop, whose reports go to a project, with a report key that is created for it. Raises Problem. */
export async function openSampleShop(project: string): Promise<void> {
  const path = { project_id: project };
  const keys = await fetchAll((cursor) =>
    api.GET('/projects/{project_id}/report-keys', { params: { path, query: { cursor, limit: 100 } } }),
  );
  const known = keys.find(({ name, enabled, origins }) => {
    return name === SHOP && enabled && origins.includes(location.origin);
  });
  const body = { kind: 'script' as const, name: SHOP, origins: [location.origin] };
  const key =
    known ??
    (await withPassword(() =>
      unwrap(api.POST('/projects/{project_id}/report-keys', { params: { path }, body })),
    ));
  const address = withBase(`/sample/?key=${key.key}`);
  if (!window.open(address)) {
    toasts.show('Your browser blocked the new tab.', {
      label: 'Open sample shop',
      run: () => window.open(address),
    });
  }
}
