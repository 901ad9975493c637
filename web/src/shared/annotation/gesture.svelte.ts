import type { Drawing } from './drawing.svelte';
import {
  drawnTo,
  isVisible,
  moved,
  reshaped,
  spanning,
  within,
  type Mark,
  type Point,
  type Size,
} from './marks';
import type { Tool } from './Toolbar.svelte';
import type { View } from './viewport.svelte';

interface Now {
  tool: Tool;
  color: string;
  picture: Size;
  drawing: Drawing;
}
type Act =
  | { kind: 'pan'; last: Point }
  | { kind: 'draw'; from: Point }
  | { kind: 'move'; from: Point; mark: Mark }
  | { kind: 'reshape'; handle: number; mark: Mark }
  | { kind: 'pinch' };

/** What pointers do on the frame: draw, move, reshape, pan, and with two fingers zoom. */
export class Gesture {
  /** The mark under way, which isn't in the drawing yet. */
  draft = $state.raw<Mark | null>(null);
  #act: Act | null = null;
  #pointers = new Map<number, Point>();
  #view: View;
  #now: () => Now;
  #done: (mark: Mark) => void;

  constructor(view: View, now: () => Now, done: (mark: Mark) => void) {
    this.#view = view;
    this.#now = now;
    this.#done = done;
  }

  /** Where an event lies in the frame. */
  inFrame(event: MouseEvent, frame: Element): Point {
    const { left, top } = frame.getBoundingClientRect();
    return [event.clientX - left - frame.clientLeft, event.clientY - top - frame.clientTop];
  }

  down(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const target = event.target as Element;
    if (target.closest('button, textarea') || event.button === 2) return;
    const at = this.inFrame(event, event.currentTarget);
    this.#pointers.set(event.pointerId, at);
    event.currentTarget.setPointerCapture(event.pointerId);
    if (this.#pointers.size === 2) {
      this.draft = null;
      this.#act = { kind: 'pinch' };
    } else if (this.#pointers.size === 1) this.#begin(event, target, at);
  }

  #begin(event: PointerEvent, target: Element, at: Point): void {
    const { tool, color, picture, drawing } = this.#now();
    const point = within(this.#view.inPicture(at), picture);
    if (event.button === 1) this.#act = { kind: 'pan', last: at };
    else if (tool !== 'select') {
      event.preventDefault(); // keeps the focus here, for the words of a text
      this.#act = { kind: 'draw', from: point };
      this.draft = spanning(tool, point, point, color, picture);
    } else {
      const handle = target.closest('[data-handle]')?.getAttribute('data-handle');
      const key = target.closest('[data-mark]')?.getAttribute('data-mark');
      const mark = drawing.marks.find((each) => each.key === (handle ? drawing.selected : key));
      if (mark && handle) this.#act = { kind: 'reshape', handle: Number(handle), mark };
      else if (mark) {
        drawing.selected = mark.key;
        this.#act = { kind: 'move', from: point, mark };
      } else {
        drawing.selected = null;
        this.#act = { kind: 'pan', last: at };
      }
    }
  }

  move(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const before = this.#pointers.get(event.pointerId);
    if (!before || !this.#act) return;
    const at = this.inFrame(event, event.currentTarget);
    if (this.#act.kind === 'pinch') return this.#pinch(event.pointerId, at);
    this.#pointers.set(event.pointerId, at);
    const { picture } = this.#now();
    const point = within(this.#view.inPicture(at), picture);
    switch (this.#act.kind) {
      case 'pan':
        this.#view.pan(at[0] - this.#act.last[0], at[1] - this.#act.last[1]);
        this.#act.last = at;
        break;
      case 'draw':
        if (this.draft) this.draft = drawnTo(this.draft, this.#act.from, point);
        break;
      case 'move': {
        const { from, mark } = this.#act;
        this.draft = moved(mark, point[0] - from[0], point[1] - from[1], picture);
        break;
      }
      case 'reshape':
        this.draft = reshaped(this.#act.mark, this.#act.handle, point);
    }
  }

  up(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    const { draft } = this;
    this.draft = null;
    if (this.#act?.kind === 'pinch') {
      if (this.#pointers.size === 0) this.#act = null;
      return;
    }
    this.#act = null;
    if (draft && isVisible(draft)) this.#done(draft);
  }

  cancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.draft = null;
    this.#act = null;
  }

  #pinch(pointer: number, at: Point): void {
    const other = [...this.#pointers].find(([id]) => id !== pointer)?.[1];
    const before = this.#pointers.get(pointer)!;
    this.#pointers.set(pointer, at);
    if (!other) return;
    const middle = (a: Point, b: Point): Point => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const [was, is] = [middle(before, other), middle(at, other)];
    const apart = (a: Point) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    this.#view.pan(is[0] - was[0], is[1] - was[1]);
    this.#view.zoom(apart(at) / apart(before), is);
  }
}
