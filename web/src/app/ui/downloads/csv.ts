interface CsvPage {
  data?: unknown;
  response: Response;
}

/** Download a table that the server sends in pages. `progress` gets the number of pages so far. Raises Problem. */
export async function downloadCsv(
  name: string,
  fetchPage: (cursor: string | undefined) => Promise<CsvPage>,
  progress: (pages: number) => void = () => undefined,
): Promise<void> {
  const table = await joinPages(fetchPage, progress);
  const address = URL.createObjectURL(table);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Without it, Excel on Windows reads a file in the code page of the system.
const BYTE_ORDER_MARK = '\u{FEFF}';

/** Fetch every page, and join them under the first header row, for spreadsheets. Raises Problem. */
export async function joinPages(
  fetchPage: (cursor: string | undefined) => Promise<CsvPage>,
  progress: (pages: number) => void,
): Promise<Blob> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const { data, response } = await fetchPage(cursor);
    const page = data as string;
    parts.push(parts.length ? page.slice(page.indexOf('\n') + 1) : page);
    cursor = response.headers.get('x-next-cursor') ?? undefined;
    progress(parts.length);
  } while (cursor);
  return new Blob([BYTE_ORDER_MARK, ...parts], { type: 'text/csv' });
}
