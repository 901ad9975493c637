import { findReporter, type Embedding } from './embedding';

interface Policy {
  createScriptURL: (url: string) => string;
  createHTML: (text: string) => string;
}
const EMPTY = '<!doctype html><title>Picture</title>';
let policy: Policy | undefined;
let openPanel: Promise<() => void> | undefined;

/** Open the panel, which is loaded the first time. Returns whether it could be. */
export async function loadPanel(embedding: Embedding): Promise<boolean> {
  openPanel ??= loadScript(embedding.address.panel).then(() => findReporter()!.mountPanel!(embedding));
  try {
    (await openPanel)();
    return true;
  } catch {
    openPanel = undefined; // the next click tries again
    return false;
  }
}

/** Load a script as an element: the page's policy allows its origin, and no permission to read it is needed. */
function loadScript(url: string): Promise<unknown> {
  const script = document.createElement('script');
  return new Promise((loaded, failed) => {
    script.onload = loaded;
    script.onerror = failed;
    script.src = trustUrl(url);
    document.head.append(script);
  });
}

function trustUrl(url: string): string {
  return findPolicy()?.createScriptURL(url) ?? url;
}

export function createEmptyDocument(): string {
  return findPolicy()?.createHTML(EMPTY) ?? EMPTY;
}

/** The policy for pages that require trusted types; theirs must allow the name `ticketbox`. */
function findPolicy(): Policy | undefined {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
  };
  const accept = (each: string) => each;
  return (policy ??= trustedTypes?.createPolicy('ticketbox', {
    createScriptURL: accept,
    createHTML: accept,
  }));
}
