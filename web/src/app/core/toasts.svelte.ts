import { inWords } from './problem';

export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  action?: { label: string; run: () => void };
}

const SECONDS = { done: 5, failed: 10 };

class Toasts {
  shown = $state<Toast[]>([]);
  #last = 0;

  say(text: string, action?: Toast['action']): void {
    this.#add({ text, kind: 'done', action });
  }

  /** Show what went wrong, in words. */
  failed(error: unknown): void {
    this.#add({ text: inWords(error), kind: 'failed' });
  }

  close(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  #add(toast: Omit<Toast, 'id'>): void {
    const id = ++this.#last;
    this.shown = [...this.shown.slice(-3), { ...toast, id }];
    setTimeout(() => this.close(id), SECONDS[toast.kind] * 1000);
  }
}

export const toasts = new Toasts();
