import type { ConsoleEntry, ErrorEntry, NetworkEntry, Step } from '../../../generated/api';
import { api } from '../core/server/client';
import { CaptureStream } from './stream.svelte';

/**
 * The streams of a capture. Each is loaded when a tab first needs it, and kept.
 *
 * These are methods, not getters: Svelte evaluates a call in a separate reaction, so that the one that reads a
 * stream isn’t the one that creates it and would ignore its changes.
 */
export class CaptureStreams {
  #path: { capture_id: string };
  #loaded = new Map<string, CaptureStream<unknown>>();

  constructor(captureId: string) {
    this.#path = { capture_id: captureId };
  }

  loadConsole(): CaptureStream<ConsoleEntry> {
    return this.#load('console', (query) =>
      api.GET('/captures/{capture_id}/console', { params: { path: this.#path, query } }),
    );
  }

  loadNetwork(): CaptureStream<NetworkEntry> {
    return this.#load('network', (query) =>
      api.GET('/captures/{capture_id}/network', { params: { path: this.#path, query } }),
    );
  }

  loadErrors(): CaptureStream<ErrorEntry> {
    return this.#load('errors', (query) =>
      api.GET('/captures/{capture_id}/errors', { params: { path: this.#path, query } }),
    );
  }

  loadSteps(): CaptureStream<Step> {
    return this.#load('steps', (query) =>
      api.GET('/captures/{capture_id}/actions', { params: { path: this.#path, query } }),
    );
  }

  stop(): void {
    this.#loaded.forEach((stream) => stream.stop());
  }

  #load<T>(name: string, ...[fetchPage]: ConstructorParameters<typeof CaptureStream<T>>): CaptureStream<T> {
    const stream = this.#loaded.get(name) ?? new CaptureStream<T>(fetchPage);
    this.#loaded.set(name, stream as CaptureStream<unknown>);
    return stream as CaptureStream<T>;
  }
}
