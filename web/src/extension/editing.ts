/** Changing the picture before it leaves the browser: what is blacked out or cut off here never does. */
import { moveMark, redactionBoxes } from '../shared/annotation/geometry';
import type { Box, Mark, Size } from '../shared/annotation/marks';
import { encoded } from './screenshot';

/** The picture with every redaction burnt in. What stood there is gone from it. */
export async function burntIn(picture: Blob, marks: Mark[]): Promise<Blob> {
  const boxes = redactionBoxes(marks);
  if (!boxes.length) return picture;
  return drawn(picture, (context, image) => {
    context.drawImage(image, 0, 0);
    context.fillStyle = '#000';
    for (const { x, y, width, height } of boxes) context.fillRect(x, y, width, height);
  });
}

/** The part of the picture within a box, and the marks at their new places. */
export async function cropped(
  picture: Blob,
  marks: Mark[],
  at: Box,
): Promise<{ picture: Blob; marks: Mark[] }> {
  const box = {
    x: Math.round(at.x),
    y: Math.round(at.y),
    width: Math.round(at.width),
    height: Math.round(at.height),
  };
  const cut = await drawn(picture, (context, image) => context.drawImage(image, -box.x, -box.y), {
    width: box.width,
    height: box.height,
  });
  return { picture: cut, marks: marks.map((mark) => moveMark(mark, -box.x, -box.y, box)) };
}

export async function sizeOf(picture: Blob): Promise<Size> {
  const image = await createImageBitmap(picture);
  const { width, height } = image;
  image.close();
  return { width, height };
}

async function drawn(
  picture: Blob,
  draw: (context: OffscreenCanvasRenderingContext2D, image: ImageBitmap) => void,
  size?: Size,
): Promise<Blob> {
  const image = await createImageBitmap(picture);
  const { width, height } = size ?? image;
  const canvas = new OffscreenCanvas(width, height);
  draw(canvas.getContext('2d')!, image);
  image.close();
  return encoded(canvas, picture.type);
}
