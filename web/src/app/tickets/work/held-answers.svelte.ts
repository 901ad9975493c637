import type { WorkQuestion } from '../../../../generated/api';
import { toasts } from '../../core/toasts.svelte';
import { nameChoice } from './work';
import { answerQuestion } from './work-sessions.svelte';

const HELD_MS = 6_000;

interface HeldAnswer {
  answer: string;
  /** Send it now, or take it back. */
  finish: (isSent: boolean) => void;
}

/** Answers that people have given and can still take back. While one is held, keys answer no other question. */
class HeldAnswers {
  #held = $state.raw<ReadonlyMap<string, HeldAnswer>>(new Map());

  constructor() {
    addEventListener('pagehide', () => this.#held.forEach(({ finish }) => finish(true)));
  }

  get isAny(): boolean {
    return this.#held.size > 0;
  }

  find(question: string): HeldAnswer | undefined {
    return this.#held.get(question);
  }

  /** Hold an answer for six seconds, then send it. Returns whether it was sent. Raises Problem. */
  async send(question: WorkQuestion, answer: string, note?: string): Promise<boolean> {
    let toast = 0;
    const isSent = await new Promise<boolean>((resolve) => {
      const finish = (sent: boolean) => {
        clearTimeout(timer);
        toasts.close(toast);
        resolve(sent);
      };
      const timer = setTimeout(() => finish(true), HELD_MS);
      this.#change((held) => held.set(question.id, { answer, finish }));
      toast = toasts.show(`Answer: ${nameChoice(question, answer)}`, {
        label: 'Undo',
        run: () => finish(false),
      });
    });
    try {
      if (isSent) await answerQuestion(question, answer, note);
      return isSent;
    } finally {
      this.#change((held) => held.delete(question.id));
    }
  }

  #change(apply: (held: Map<string, HeldAnswer>) => void): void {
    const held = new Map(this.#held);
    apply(held);
    this.#held = held;
  }
}

export const heldAnswers = new HeldAnswers();
