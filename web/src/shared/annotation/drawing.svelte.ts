import { redactionBoxes } from './geometry';
import { fromSaved, toInput, type Input, type Mark, type SavedMark } from './marks';

/** The marks of an image while they are edited, with selection, undo and redo. */
export class Drawing {
  marks = $state.raw<Mark[]>([]);
  selected = $state<string | null>(null);
  #past = $state.raw<Mark[][]>([]);
  #future = $state.raw<Mark[][]>([]);
  #saved = $state.raw<Mark[]>([]);

  readonly hasChanges = $derived(this.marks !== this.#saved);
  readonly canUndo = $derived(this.#past.length > 0);
  readonly canRedo = $derived(this.#future.length > 0);
  readonly selectedMark = $derived(this.marks.find((mark) => mark.key === this.selected));

  constructor(saved: SavedMark[] = []) {
    this.reset(saved);
  }

  /** Replace all marks by the saved ones. */
  reset(saved: SavedMark[]): void {
    this.marks = this.#saved = saved.map(fromSaved);
    this.#past = this.#future = [];
    this.selected = null;
  }

  /**
   * Merge the marks that someone else saved: add their new marks, and remove those they deleted unless they were
   * changed here.
   */
  merge(saved: SavedMark[]): void {
    if (!this.hasChanges) return this.reset(saved);
    const theirs = new Map(saved.map((mark) => [mark.id, mark]));
    const before = new Map(this.#saved.map((mark) => [mark.id, mark]));
    const added = saved.filter((mark) => !before.has(mark.id)).map(fromSaved);
    const mine = this.marks.flatMap((mark): Mark[] => {
      if (!mark.id) return [mark];
      const found = theirs.get(mark.id);
      const isUnchanged = before.get(mark.id) === mark;
      if (found) return [isUnchanged ? { ...fromSaved(found), key: mark.key } : mark];
      return isUnchanged ? [] : [{ ...mark, id: undefined }];
    });
    this.#saved = saved.map(fromSaved);
    this.marks = [...added, ...mine];
    this.#past = this.#future = []; // older states refer to deleted marks
  }

  /** Add or replace a mark, as one undo step. */
  upsert(mark: Mark): void {
    const exists = this.marks.some((each) => each.key === mark.key);
    this.#change(
      exists ? this.marks.map((each) => (each.key === mark.key ? mark : each)) : [...this.marks, mark],
    );
  }

  remove(key: string): void {
    this.#change(this.marks.filter((mark) => mark.key !== key));
    if (this.selected === key) this.selected = null;
  }

  undo(): void {
    if (!this.canUndo) return;
    this.#future = [this.marks, ...this.#future];
    this.marks = this.#past.at(-1)!;
    this.#past = this.#past.slice(0, -1);
    this.#deselectDeleted();
  }

  redo(): void {
    if (!this.canRedo) return;
    this.#past = [...this.#past, this.marks];
    this.marks = this.#future[0]!;
    this.#future = this.#future.slice(1);
    this.#deselectDeleted();
  }

  /** Return to the saved marks. */
  discard(): void {
    this.marks = this.#saved;
    this.#past = this.#future = [];
    this.selected = null;
  }

  /** The marks as the API expects them. */
  inputs(): Input[] {
    return this.marks.map(toInput);
  }

  /** The number of redactions that are not saved yet. */
  get newRedactions(): number {
    return redactionBoxes(this.marks.filter((mark) => !mark.isFixed)).length;
  }

  #change(marks: Mark[]): void {
    this.#past = [...this.#past, this.marks];
    this.#future = [];
    this.marks = marks;
  }

  #deselectDeleted(): void {
    if (!this.selectedMark) this.selected = null;
  }
}
