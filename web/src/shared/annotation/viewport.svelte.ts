import type { Point, Size } from './marks';

const MAX_SCALE = 8;
const ZOOM_STEP = 1.25;

/** Scale and offset of an image in its frame, in pixels of the frame. */
export class Viewport {
  scale = $state(1);
  x = $state(0);
  y = $state(0);
  frame = $state.raw<Size>({ width: 0, height: 0 });
  image = $state.raw<Size>({ width: 1, height: 1 });
  /** Whether the whole image is shown, also after the frame is resized. */
  isFitted = $state(true);

  readonly fitScale = $derived(
    Math.min(this.frame.width / this.image.width, this.frame.height / this.image.height, 1) || 1,
  );

  resize(frame: Size, image: Size): void {
    this.frame = frame;
    this.image = image;
    if (this.isFitted) this.fit();
    else this.#clamp();
  }

  fit(): void {
    this.isFitted = true;
    this.scale = this.fitScale;
    this.#clamp();
  }

  /** Zoom by a factor around a point of the frame, by default its centre. */
  zoom(factor: number, [px, py]: Point = [this.frame.width / 2, this.frame.height / 2]): void {
    const scale = Math.min(Math.max(this.scale * factor, this.fitScale), MAX_SCALE);
    const ratio = scale / this.scale;
    this.x = px - (px - this.x) * ratio;
    this.y = py - (py - this.y) * ratio;
    this.scale = scale;
    this.isFitted = scale <= this.fitScale;
    this.#clamp();
  }

  zoomIn(): void {
    this.zoom(ZOOM_STEP);
  }

  zoomOut(): void {
    this.zoom(1 / ZOOM_STEP);
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.#clamp();
  }

  /** Convert a point of the frame to a point of the image. */
  toImage([px, py]: Point): Point {
    return [(px - this.x) / this.scale, (py - this.y) / this.scale];
  }

  #clamp(): void {
    const clamp = (offset: number, extent: number, room: number) =>
      extent <= room ? (room - extent) / 2 : Math.min(0, Math.max(room - extent, offset));
    this.x = clamp(this.x, this.image.width * this.scale, this.frame.width);
    this.y = clamp(this.y, this.image.height * this.scale, this.frame.height);
  }
}
