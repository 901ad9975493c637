/** Edits of a screenshot before it is sent. Redacted and cropped pixels never leave the browser. */
import { moved, redactions, type Box, type Mark, type Size } from '../../../shared/annotation/marks';
import { encodeCanvas } from '../../capture/screenshot';

/** Paint every redaction into the screenshot's pixels. */
export async function applyRedactions(screenshot: Blob, marks: Mark[]): Promise<Blob> {
  const boxes = redactions(marks);
  if (!boxes.length) return screenshot;
  return redraw(screenshot, (context, image) => {
    context.drawImage(image, 0, 0);
    context.fillStyle = '#000';
    for (const { x, y, width, height } of boxes) context.fillRect(x, y, width, height);
  });
}

/** Crop a screenshot to a box, and move the marks accordingly. */
export async function cropScreenshot(
  screenshot: Blob,
  marks: Mark[],
  box: Box,
): Promise<{ screenshot: Blob; marks: Mark[] }> {
  const { x, y, width, height } = {
    x: Math.round(box.x),
    y: Math.round(box.y),
    width: Math.round(box.width),
    height: Math.round(box.height),
  };
  const size = { width, height };
  const drawPart = (context: OffscreenCanvasRenderingContext2D, image: ImageBitmap) =>
    context.drawImage(image, -x, -y);
  return {
    screenshot: await redraw(screenshot, drawPart, size),
    marks: marks.map((mark) => moved(mark, -x, -y, size)),
  };
}

export async function readSize(screenshot: Blob): Promise<Size> {
  const image = await createImageBitmap(screenshot);
  const { width, height } = image;
  image.close();
  return { width, height };
}

async function redraw(
  screenshot: Blob,
  draw: (context: OffscreenCanvasRenderingContext2D, image: ImageBitmap) => void,
  size?: Size,
): Promise<Blob> {
  const image = await createImageBitmap(screenshot);
  const { width, height } = size ?? image;
  const canvas = new OffscreenCanvas(width, height);
  draw(canvas.getContext('2d')!, image);
  image.close();
  return encodeCanvas(canvas, screenshot.type);
}
