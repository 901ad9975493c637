import type { SavedView } from '../../../../generated/api';
import { api, fetchAll } from '../../core/server/client';
import { eventStream } from '../../core/server/event-stream.svelte';

/** The saved views that the person sees, oldest first. Changes of shared ones arrive as events. */
class ViewList {
  items = $state.raw<SavedView[]>([]);

  find(id: string | null): SavedView | undefined {
    return this.items.find((each) => each.id === id);
  }

  of(company: string | undefined): SavedView[] {
    return this.items.filter((each) => each.company_id === company);
  }

  /** Load the views. Raises Problem. */
  async load(): Promise<void> {
    this.items = await fetchAll((cursor) => api.GET('/views', { params: { query: { cursor, limit: 100 } } }));
  }

  /** Load the views, and follow their changes until the returned function is called. */
  watch(): () => void {
    this.load().catch(() => undefined); // without them, everything else works
    return eventStream.subscribe((event) => {
      if (event.type.startsWith('view.')) this.load().catch(() => undefined);
    });
  }

  /** Show a new or changed view. */
  put(view: SavedView): void {
    const isKnown = this.items.some((each) => each.id === view.id);
    this.items = isKnown
      ? this.items.map((each) => (each.id === view.id ? view : each))
      : [...this.items, view];
  }

  remove(id: string): void {
    this.items = this.items.filter((each) => each.id !== id);
  }
}

export const viewList = new ViewList();
