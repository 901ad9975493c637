import type { ColumnKind } from '../../../../generated/api';

/** The kinds of columns, in words. */
export const COLUMN_KINDS: { value: ColumnKind; label: string; help: string }[] = [
  {
    value: 'todo',
    label: 'To do',
    help: 'Waits for somebody. A reopened ticket moves to the first such column.',
  },
  { value: 'doing', label: 'In progress', help: 'Somebody works on it.' },
  {
    value: 'done',
    label: 'Done',
    help: 'Its tickets are resolved. A resolved ticket moves to the first such column.',
  },
];
