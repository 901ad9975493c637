/** What is wrong on the page of the shown capture, as people and agents say. */
import { getContext, setContext } from 'svelte';
import type { CaptureDetail, Expectation, SentExpectation } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';

const KEY = Symbol('the expectations of the capture');

export class Expectations {
  readonly #read: () => { capture: CaptureDetail; editable: boolean };
  all = $derived.by(() => this.#read().capture.expectations);
  isSending = $state(false);

  constructor(read: () => { capture: CaptureDetail; editable: boolean }) {
    this.#read = read;
    setContext(KEY, this);
  }

  get isEditable(): boolean {
    return this.#read().editable;
  }

  async add(pointed: Partial<SentExpectation> & Pick<SentExpectation, 'is'>): Promise<void> {
    await this.#send('Added to what is wrong', async () => {
      const params = { path: { capture_id: this.#read().capture.id } };
      const body = pointed as SentExpectation;
      this.all = [
        ...this.all,
        await unwrap(api.POST('/captures/{capture_id}/expectations', { params, body })),
      ];
    });
  }

  async confirm({ id }: Expectation): Promise<void> {
    await this.#send('Expectation confirmed', async () => {
      const params = { path: { expectation_id: id } };
      const confirmed = await unwrap(api.POST('/expectations/{expectation_id}/confirm', { params }));
      this.all = this.all.map((each) => (each.id === id ? confirmed : each));
    });
  }

  async remove({ id }: Expectation): Promise<void> {
    await this.#send('Expectation removed', async () => {
      const params = { path: { expectation_id: id } };
      await unwrap(api.DELETE('/expectations/{expectation_id}', { params }));
      this.all = this.all.filter((each) => each.id !== id);
    });
  }

  async #send(done: string, work: () => Promise<void>): Promise<void> {
    this.isSending = true;
    try {
      await work();
      toasts.show(done);
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.isSending = false;
    }
  }
}

/** The expectations of the capture that the ticket's page shows; none elsewhere. */
export function findExpectations(): Expectations | undefined {
  return getContext<Expectations | undefined>(KEY);
}
