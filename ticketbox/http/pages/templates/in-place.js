// Keeps one entry in the tab's history while a person connects an app: browsers let a script close only such a tab.
// Without this script the pages work as well, and the person closes the tab.

/** Send a form, and show the answer in this entry of the history. */
async function send(event) {
  event.preventDefault();
  const { currentTarget: form, submitter } = event;
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  const body = new URLSearchParams(new FormData(form, submitter));
  let answer;
  try {
    answer = await fetch(form.action, { method: 'POST', headers: { Accept: 'application/json, text/html' }, body });
  } catch {
    form.removeEventListener('submit', send);
    form.requestSubmit(submitter); // the browser says why the server can't be reached
    return;
  }
  if (answer.redirected) location.replace(answer.url);
  else if (answer.headers.get('content-type').startsWith('application/json'))
    location.replace((await answer.json()).location);
  else show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
}

/** Replace the content of this page by another page of the server. */
function show(page) {
  const focused = page.querySelector('[autofocus]');
  focused?.removeAttribute('autofocus'); // browsers use it only in the first page of a document
  document.title = page.title;
  document.body.replaceWith(page.body);
  prepareForms();
  focused?.focus();
  const passkeys = page.querySelector('script[src*=passkeys]');
  if (passkeys) import(`${new URL(passkeys.getAttribute('src'), location.href)}?again=${Date.now()}`);
  const app = document.querySelector('a[data-opens-app]');
  if (app) openApp(app.href);
}

/** Open an app by its own scheme, and close the tab, but not while the browser asks whether it may open the app. */
function openApp(address) {
  const closeIfSeen = () => document.hasFocus() && window.close();
  location.replace(address);
  setTimeout(closeIfSeen, 2000);
  window.addEventListener('focus', () => setTimeout(closeIfSeen, 1000));
}

function prepareForms() {
  for (const form of document.querySelectorAll('form[data-in-place]')) form.addEventListener('submit', send);
}

prepareForms();
