import { describeError } from './server/problem';

interface ToastAction {
  label: string;
  run: () => void;
}

export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  action?: ToastAction;
}

const SECONDS = 6;

/** Messages in the corner: one at a time. Failures stay until they are dismissed. */
class Toasts {
  items = $state<Toast[]>([]);
  /** Whether the pointer or the focus is on the messages, which then stay. */
  isHeld = $state(false);
  #last = 0;

  /** Show a message. Returns its id. */
  show(text: string, action?: ToastAction): number {
    return this.#add({ text, kind: 'done', action });
  }

  /** Show an error message. */
  showError(error: unknown, action?: ToastAction): void {
    this.#add({ text: describeError(error), kind: 'failed', action });
  }

  close(id: number): void {
    this.items = this.items.filter((toast) => toast.id !== id);
  }

  /** Run the action of a message, and close it. */
  act(toast: Toast): void {
    this.close(toast.id);
    toast.action?.run();
  }

  /** The message that offers to undo what was done last. */
  get undo(): Toast | undefined {
    return this.items.findLast((toast) => toast.action?.label === 'Undo');
  }

  #add(toast: Omit<Toast, 'id'>): number {
    const id = ++this.#last;
    const failures = this.items.filter((each) => each.kind === 'failed' && each.text !== toast.text);
    this.items = [...failures.slice(-1), { ...toast, id }];
    if (toast.kind === 'done') this.#closeLater(id);
    return id;
  }

  #closeLater(id: number): void {
    setTimeout(() => (this.isHeld ? this.#closeLater(id) : this.close(id)), SECONDS * 1000);
  }
}

export const toasts = new Toasts();
