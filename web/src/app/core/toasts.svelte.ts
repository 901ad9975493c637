import { describeError } from './problem';

export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  action?: { label: string; run: () => void };
}

const SECONDS = { done: 5, failed: 10 };

class Toasts {
  items = $state<Toast[]>([]);
  #last = 0;

  show(text: string, action?: Toast['action']): void {
    this.#add({ text, kind: 'done', action });
  }

  /** Show an error message. */
  showError(error: unknown): void {
    this.#add({ text: describeError(error), kind: 'failed' });
  }

  close(id: number): void {
    this.items = this.items.filter((toast) => toast.id !== id);
  }

  #add(toast: Omit<Toast, 'id'>): void {
    const id = ++this.#last;
    this.items = [...this.items.slice(-3), { ...toast, id }];
    setTimeout(() => this.close(id), SECONDS[toast.kind] * 1000);
  }
}

export const toasts = new Toasts();
