import type { Attachment } from 'svelte/attachments';

const ROWS = '[data-row]';

/**
 * Keep the focus in a list whose rows come and go: when the row that has it, or last had it, is removed, the row with the
 * same id gets it, else the one that takes its place. Rows have `data-row`.
 */
export function keepsFocus(): Attachment<HTMLElement> {
  return (list) => {
    let row: HTMLElement | null = null;
    let index = 0;
    const listRows = () => [...list.querySelectorAll<HTMLElement>(ROWS)];

    const remember = ({ target }: FocusEvent) => {
      row = (target as HTMLElement).closest(ROWS);
      index = row ? listRows().indexOf(row) : 0;
    };
    const restore = () => {
      if (!row || row.isConnected) return;
      requestAnimationFrame(() => {
        if (!row || row.isConnected || document.activeElement !== document.body) return;
        const all = listRows();
        const next = all.find((each) => each.dataset.row === row!.dataset.row) ?? all[index] ?? all.at(-1);
        focusRow(next);
      });
    };
    // a dialog or a toolbar that had the focus can disappear after the row
    const observer = new MutationObserver(restore);
    observer.observe(document.body, { childList: true, subtree: true });
    list.addEventListener('focusin', remember);
    return () => {
      observer.disconnect();
      list.removeEventListener('focusin', remember);
      // the last row is gone, and the list with it
      requestAnimationFrame(() => {
        const heading = document.querySelector<HTMLElement>('main h1');
        if (!row || !heading || document.activeElement !== document.body) return;
        heading.tabIndex = -1;
        heading.focus();
      });
    };
  };
}

/** Focus the row of a list that is a step away from the focused one, else its first. */
export function stepFocus(list: HTMLElement | undefined, by: number): void {
  const all = [...(list?.querySelectorAll<HTMLElement>(ROWS) ?? [])];
  const index = all.findIndex((each) => each.contains(document.activeElement));
  const next = index < 0 ? all[0] : all[index + by];
  focusRow(next);
}

/** Focus the link of a row, else its first button. */
function focusRow(row: HTMLElement | undefined): void {
  const target =
    row?.querySelector('a[href]') ?? row?.querySelector('button:not(:disabled), input:not(:disabled)');
  (target as HTMLElement | null | undefined)?.focus();
}
