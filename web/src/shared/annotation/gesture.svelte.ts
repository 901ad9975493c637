import type { Drawing } from './drawing.svelte';
import { clampPoint, createMark, extendMark, isVisible, moveMark, reshapeMark } from './geometry';
import type { Mark, Point, Size } from './marks';
import type { Tool } from './Toolbar.svelte';
import type { Viewport } from './viewport.svelte';

interface EditorState {
  tool: Tool;
  color: string;
  image: Size;
  drawing: Drawing;
}
type Action =
  | { kind: 'pan'; last: Point }
  | { kind: 'draw'; from: Point }
  | { kind: 'move'; from: Point; mark: Mark }
  | { kind: 'reshape'; handle: number; mark: Mark }
  | { kind: 'pinch' };

/** Pointer gestures on the frame: draw, move, reshape, pan, and pinch to zoom. */
export class Gesture {
  /** The mark that is being drawn or changed. */
  draft = $state.raw<Mark | null>(null);
  #action: Action | null = null;
  #pointers = new Map<number, Point>();
  #view: Viewport;
  #state: () => EditorState;
  #finish: (mark: Mark) => void;

  constructor(view: Viewport, state: () => EditorState, finish: (mark: Mark) => void) {
    this.#view = view;
    this.#state = state;
    this.#finish = finish;
  }

  /** The position of an event in the frame. */
  toFrame(event: MouseEvent, frame: Element): Point {
    const { left, top } = frame.getBoundingClientRect();
    return [event.clientX - left - frame.clientLeft, event.clientY - top - frame.clientTop];
  }

  handleDown(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const target = event.target as Element;
    if (target.closest('button, textarea, [data-opens]') || event.button === 2) return;
    const at = this.toFrame(event, event.currentTarget);
    this.#pointers.set(event.pointerId, at);
    event.currentTarget.setPointerCapture(event.pointerId);
    if (this.#pointers.size === 2) {
      this.draft = null;
      this.#action = { kind: 'pinch' };
    } else if (this.#pointers.size === 1) this.#start(event, target, at);
  }

  #start(event: PointerEvent, target: Element, at: Point): void {
    const { tool, color, image, drawing } = this.#state();
    const point = clampPoint(this.#view.toImage(at), image);
    if (event.button === 1) this.#action = { kind: 'pan', last: at };
    else if (tool !== 'select') {
      event.preventDefault(); // keeps the focus here, for the text input
      this.#action = { kind: 'draw', from: point };
      this.draft = createMark(tool, point, point, color, image);
    } else {
      const handle = target.closest('[data-handle]')?.getAttribute('data-handle');
      const key = target.closest('[data-mark]')?.getAttribute('data-mark');
      const mark = drawing.marks.find((each) => each.key === (handle ? drawing.selected : key));
      if (mark && handle) this.#action = { kind: 'reshape', handle: Number(handle), mark };
      else if (mark) {
        drawing.selected = mark.key;
        this.#action = { kind: 'move', from: point, mark };
      } else {
        drawing.selected = null;
        this.#action = { kind: 'pan', last: at };
      }
    }
  }

  handleMove(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const before = this.#pointers.get(event.pointerId);
    if (!before || !this.#action) return;
    const at = this.toFrame(event, event.currentTarget);
    if (this.#action.kind === 'pinch') return this.#pinch(event.pointerId, at);
    this.#pointers.set(event.pointerId, at);
    const { image } = this.#state();
    const point = clampPoint(this.#view.toImage(at), image);
    switch (this.#action.kind) {
      case 'pan':
        this.#view.pan(at[0] - this.#action.last[0], at[1] - this.#action.last[1]);
        this.#action.last = at;
        break;
      case 'draw':
        if (this.draft) this.draft = extendMark(this.draft, this.#action.from, point);
        break;
      case 'move': {
        const { from, mark } = this.#action;
        this.draft = moveMark(mark, point[0] - from[0], point[1] - from[1], image);
        break;
      }
      case 'reshape':
        this.draft = reshapeMark(this.#action.mark, this.#action.handle, point);
    }
  }

  handleUp(event: PointerEvent): void {
    if (!this.#pointers.delete(event.pointerId)) return;
    const { draft } = this;
    this.draft = null;
    if (this.#action?.kind === 'pinch') {
      if (this.#pointers.size === 0) this.#action = null;
      return;
    }
    this.#action = null;
    if (draft && isVisible(draft)) this.#finish(draft);
  }

  handleCancel(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    this.draft = null;
    this.#action = null;
  }

  #pinch(pointer: number, at: Point): void {
    const other = [...this.#pointers].find(([id]) => id !== pointer)?.[1];
    const before = this.#pointers.get(pointer)!;
    this.#pointers.set(pointer, at);
    if (!other) return;
    const middle = (a: Point, b: Point): Point => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const [from, to] = [middle(before, other), middle(at, other)];
    const distance = (a: Point) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    this.#view.pan(to[0] - from[0], to[1] - from[1]);
    this.#view.zoom(distance(at) / distance(before), to);
  }
}
