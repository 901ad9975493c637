import type { Frame } from '../../../../generated/api';
import { shortenUrl } from '../format';

/** A line of an excerpt; `marked` is the word where the error is, between the texts before and after it. */
export interface ShownLine {
  number: number;
  before: string;
  marked: string;
  after: string;
  isCurrent: boolean;
}

/** A frame as it is shown. */
export interface ShownFrame {
  name: string;
  place: string;
  /** The complete address. */
  title: string;
  /** The lines of the author's file around it. */
  lines: ShownLine[];
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
  const { line, column, context = [] } = original;
  const first = Math.max(1, line - LINES_BEFORE);
  return {
    name: frame.function || '(anonymous)',
    place: formatPlace(original.file, original),
    title,
    lines: context.map((text, index) => describeLine(text, first + index, line, column)),
  };
}

/** Describe a line of an excerpt around a place, whose line and column begin at 1. */
function describeLine(text: string, number: number, line: number, column?: number | null): ShownLine {
  const start = number === line && column ? column - 1 : text.length;
  const [marked = ''] = /^[\p{L}\p{N}_$]+/u.exec(text.slice(start)) ?? [];
  return {
    number,
    before: text.slice(0, start),
    marked,
    after: text.slice(start + marked.length),
    isCurrent: number === line,
  };
}

function formatPlace(
  file: string,
  { line, column }: { line?: number | null; column?: number | null },
): string {
  return [file, line, column].filter((part) => part != null).join(':');
}
