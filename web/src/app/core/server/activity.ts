const ACTIVE_MS = 60_000;
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'];

/** Whether somebody uses the page. Calls that nobody caused must not keep the session alive. */
export class Activity {
  #lastInput: number;

  constructor(
    page: EventTarget,
    private readonly now: () => number = Date.now,
  ) {
    this.#lastInput = now();
    for (const kind of INPUTS)
      page.addEventListener(kind, () => (this.#lastInput = this.now()), { capture: true, passive: true });
  }

  /** Whether there was no input for a minute. */
  isBackground(): boolean {
    return this.now() - this.#lastInput > ACTIVE_MS;
  }
}
