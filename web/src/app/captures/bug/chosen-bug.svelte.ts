/** Which failure of the shown capture is the bug, and choosing another one. */
import { getContext, setContext } from 'svelte';
import type { CaptureDetail, Failure } from '../../../../generated/api';
import { isSameFailure } from '../../../shared/failures';
import { api, unwrap } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';

const KEY = Symbol('the bug of the capture');

export class ChosenBug {
  readonly #read: () => { capture: CaptureDetail; editable: boolean };
  bug = $derived.by(() => this.#read().capture.bug);
  isSending = $state(false);

  constructor(read: () => { capture: CaptureDetail; editable: boolean }) {
    this.#read = read;
    setContext(KEY, this);
  }

  get isEditable(): boolean {
    return this.#read().editable;
  }

  isBug(failure: Failure): boolean {
    return isSameFailure(failure, this.bug);
  }

  async choose({ stream, entry }: Failure): Promise<void> {
    this.isSending = true;
    const params = { path: { capture_id: this.#read().capture.id } };
    try {
      this.bug = (
        await unwrap(api.PUT('/captures/{capture_id}/bug', { params, body: { stream, entry } }))
      ).bug;
      toasts.show('Bug chosen');
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.isSending = false;
    }
  }
}

/** The bug of the capture that the ticket's page shows; none elsewhere. */
export function findChosenBug(): ChosenBug | undefined {
  return getContext<ChosenBug | undefined>(KEY);
}
