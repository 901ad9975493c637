/** The rules of redaction, which the extension and the server share (docs/use/captures.md, "Redaction"). */
import data from '../../../../ticketbox/domain/captures/redaction/rules.json';

export interface Span {
  pattern: string;
  name: number;
  value?: number;
  quote?: number;
  loose?: boolean;
}

interface Format {
  name: string;
  marks: string[];
  pattern: string;
  kept?: boolean;
}

export const RULES = {
  ...data,
  formats: data.formats as Format[],
  pairs: { ...data.pairs, spans: data.pairs.spans as Span[] },
};

/** A text in lower case, of the same length: U+0130 is the only character that becomes longer. */
export function lowerCase(text: string): string {
  const lowered = text.toLowerCase();
  return lowered.length === text.length ? lowered : text.replaceAll('İ', 'i').toLowerCase();
}
