import { fromSaved, redactions, toInput, type Input, type Mark, type Saved } from './marks';

/** The marks of one picture while somebody draws: what is there, what is selected, undo and redo. */
export class Drawing {
  marks = $state.raw<Mark[]>([]);
  selected = $state<string | null>(null);
  #past = $state.raw<Mark[][]>([]);
  #future = $state.raw<Mark[][]>([]);
  #saved = $state.raw<Mark[]>([]);

  readonly dirty = $derived(this.marks !== this.#saved);
  readonly undoable = $derived(this.#past.length > 0);
  readonly redoable = $derived(this.#future.length > 0);
  readonly chosen = $derived(this.marks.find((mark) => mark.key === this.selected));

  constructor(saved: Saved[] = []) {
    this.reset(saved);
  }

  /** Begin anew with what is stored. */
  reset(saved: Saved[]): void {
    this.marks = this.#saved = saved.map(fromSaved);
    this.#past = this.#future = [];
    this.selected = null;
  }

  /**
   * Take in what somebody else saved meanwhile, without losing what is drawn here: their new marks come in, and
   * what they took away goes unless it was changed here.
   */
  merge(saved: Saved[]): void {
    if (!this.dirty) return this.reset(saved);
    const theirs = new Map(saved.map((mark) => [mark.id, mark]));
    const before = new Map(this.#saved.map((mark) => [mark.id, mark]));
    const news = saved.filter((mark) => !before.has(mark.id)).map(fromSaved);
    const mine = this.marks.flatMap((mark): Mark[] => {
      if (!mark.id) return [mark];
      const found = theirs.get(mark.id);
      const untouched = before.get(mark.id) === mark;
      if (found) return [untouched ? { ...fromSaved(found), key: mark.key } : mark];
      return untouched ? [] : [{ ...mark, id: undefined }];
    });
    this.#saved = saved.map(fromSaved);
    this.marks = [...news, ...mine];
    this.#past = this.#future = []; // older states name marks that are gone
  }

  /** Add a mark, or put its new state in its place. One step to undo. */
  put(mark: Mark): void {
    const known = this.marks.some((each) => each.key === mark.key);
    this.#change(
      known ? this.marks.map((each) => (each.key === mark.key ? mark : each)) : [...this.marks, mark],
    );
  }

  remove(key: string): void {
    this.#change(this.marks.filter((mark) => mark.key !== key));
    if (this.selected === key) this.selected = null;
  }

  undo(): void {
    if (!this.undoable) return;
    this.#future = [this.marks, ...this.#future];
    this.marks = this.#past.at(-1)!;
    this.#past = this.#past.slice(0, -1);
    this.#unselectLost();
  }

  redo(): void {
    if (!this.redoable) return;
    this.#past = [...this.#past, this.marks];
    this.marks = this.#future[0]!;
    this.#future = this.#future.slice(1);
    this.#unselectLost();
  }

  /** What to send. */
  inputs(): Input[] {
    return this.marks.map(toInput);
  }

  /** How many redactions would be burnt in for the first time. */
  get newRedactions(): number {
    return redactions(this.marks.filter((mark) => !mark.fixed)).length;
  }

  #change(marks: Mark[]): void {
    this.#past = [...this.#past, this.marks];
    this.#future = [];
    this.marks = marks;
  }

  #unselectLost(): void {
    if (!this.chosen) this.selected = null;
  }
}
