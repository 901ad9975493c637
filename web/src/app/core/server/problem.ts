import type { FieldError } from '../../../../generated/api';

interface Document {
  status: number;
  code: string;
  detail?: string;
  title?: string;
  errors?: FieldError[];
  retry_after?: number;
  at?: Span;
}

/** The wrong part of a text, in characters (not in JavaScript's UTF-16 code units). */
export interface Span {
  start: number;
  end: number;
}

/** An error response of the API (docs/reference/errors.md), or `unreachable` with status 0. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldError[];
  readonly retryAfter: number | undefined;
  /** The wrong part of a search query. */
  readonly span: Span | undefined;

  constructor(
    status: number,
    code: string,
    detail: string,
    errors: FieldError[] = [],
    retryAfter?: number,
    span?: Span,
  ) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.retryAfter = retryAfter;
    this.span = span;
  }

  static async fromResponse(response: Response): Promise<Problem> {
    const fallback = {
      status: response.status,
      code: 'unknown',
      detail: `The server returned ${response.status}.`,
    };
    const found: Document = await response.json().catch(() => fallback);
    const detail = found.detail ?? found.title ?? fallback.detail;
    return new Problem(response.status, found.code, detail, found.errors, found.retry_after, found.at);
  }

  /** The same error, attached to a field of the form. */
  forField(field: string): Problem {
    return new Problem(
      this.status,
      this.code,
      this.message,
      [{ field, message: this.message }],
      this.retryAfter,
    );
  }

  /** The error of a field of the form. */
  fieldError(field: string): string | undefined {
    return this.errors.find((error) => error.field === field)?.message;
  }
}

/** Describe any thrown value in a sentence. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
