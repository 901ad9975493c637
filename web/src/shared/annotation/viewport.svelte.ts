import type { Point, Size } from './marks';

const CLOSEST = 8;
const STEP = 1.25;

/** How a picture lies in its frame: scale and offset, in the frame's own pixels. */
export class View {
  scale = $state(1);
  x = $state(0);
  y = $state(0);
  frame = $state.raw<Size>({ width: 0, height: 0 });
  picture = $state.raw<Size>({ width: 1, height: 1 });
  /** Whether the whole picture is shown, and stays so when the frame changes. */
  fitted = $state(true);

  readonly fitScale = $derived(
    Math.min(this.frame.width / this.picture.width, this.frame.height / this.picture.height, 1) || 1,
  );

  resize(frame: Size, picture: Size): void {
    this.frame = frame;
    this.picture = picture;
    if (this.fitted) this.fit();
    else this.#keepInside();
  }

  fit(): void {
    this.fitted = true;
    this.scale = this.fitScale;
    this.#keepInside();
  }

  /** Zoom by a factor around a point of the frame; without one, around its middle. */
  zoom(factor: number, [px, py]: Point = [this.frame.width / 2, this.frame.height / 2]): void {
    const scale = Math.min(Math.max(this.scale * factor, this.fitScale), CLOSEST);
    const ratio = scale / this.scale;
    this.x = px - (px - this.x) * ratio;
    this.y = py - (py - this.y) * ratio;
    this.scale = scale;
    this.fitted = scale <= this.fitScale;
    this.#keepInside();
  }

  closer(): void {
    this.zoom(STEP);
  }

  farther(): void {
    this.zoom(1 / STEP);
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.#keepInside();
  }

  /** The picture's point that lies under a point of the frame. */
  inPicture([px, py]: Point): Point {
    return [(px - this.x) / this.scale, (py - this.y) / this.scale];
  }

  #keepInside(): void {
    const place = (at: number, extent: number, room: number) =>
      extent <= room ? (room - extent) / 2 : Math.min(0, Math.max(room - extent, at));
    this.x = place(this.x, this.picture.width * this.scale, this.frame.width);
    this.y = place(this.y, this.picture.height * this.scale, this.frame.height);
  }
}
