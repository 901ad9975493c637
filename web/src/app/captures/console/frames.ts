import type { Frame } from '../../../../generated/api';
import { shortenUrl } from '../format';

/** A frame as it is shown. */
export interface ShownFrame {
  name: string;
  place: string;
  /** The complete address. */
  title: string;
  /** The lines of the author's file around it. */
  lines: { number: number; text: string; isCurrent: boolean }[];
}

const LINES_BEFORE = 2;

/** Describe a frame by its place in the author's file, if that is known and not `isGenerated`. */
export function describeFrame(frame: Frame, isGenerated: boolean): ShownFrame {
  const { original, url } = frame;
  const title = formatPlace(url, frame);
  if (!original || isGenerated) {
    return {
      name: frame.function || '(anonymous)',
      place: formatPlace(shortenUrl(url), frame),
      title,
      lines: [],
    };
  }
  const { line, context = [] } = original;
  const first = Math.max(1, line - LINES_BEFORE);
  return {
    name: original.function || '(anonymous)',
    place: formatPlace(original.file, original),
    title,
    lines: context.map((text, index) => ({ number: first + index, text, isCurrent: first + index === line })),
  };
}

function formatPlace(
  file: string,
  { line, column }: { line?: number | null; column?: number | null },
): string {
  return [file, line, column].filter((part) => part != null).join(':');
}
