// Sign in with a passkey, and create one, on the pages that the server renders. Without this, they work with codes.

const root = new URL('..', import.meta.url); // the server's, which may have a path
const isIpAddress = /^[\d.]+$|:/.test(location.hostname); // passkeys belong to a name
const isSupported = 'parseRequestOptionsFromJSON' in (window.PublicKeyCredential ?? {}) && !isIpAddress;

/** The address of a path of the server; the dot keeps `/https:example.org` on this site. */
function locate(path) {
  return new URL(`.${path}`, root);
}

/** The path of this page, as the server knows it. */
function findPath() {
  return location.pathname.slice(root.pathname.length - 1) + location.search;
}

async function call(path, body) {
  const answer = await fetch(locate(`/api/v1${path}`), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const result = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(result.detail), { code: result.code });
  return result;
}

async function signIn({ handle, next }) {
  const sent = handle ? { handle } : {};
  const { options } = await call('/session/passkey/options', sent);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const { id, response } = (await navigator.credentials.get({ publicKey })).toJSON();
  const passkey = {
    credential_id: id,
    client_data: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
    ...(response.userHandle && { user_handle: response.userHandle }),
  };
  await call('/session/passkey', { ...sent, passkey });
  location.replace(locate(next));
}

async function create({ next }, place) {
  const { options } = await call('/profile/passkeys/options', {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const { response } = (await navigator.credentials.create({ publicKey })).toJSON();
  const added = await call('/profile/passkeys', {
    name: place.querySelector('input').value,
    client_data: response.clientDataJSON,
    attestation: response.attestationObject,
  });
  if (!added.recovery_codes) return location.assign(locate(next));
  const codes = document.querySelector('[data-recovery-codes]');
  codes.querySelector('pre').textContent = added.recovery_codes.join('\n');
  codes.hidden = false;
  document.querySelector('[data-set-up]').hidden = true;
  codes.querySelector('h2').focus();
}

function explain(error, verb) {
  if (error.name === 'NotAllowedError') return `No passkey was ${verb}. Try again, or choose another way.`;
  if (error.name === 'InvalidStateError') return 'This device already has a passkey of your account.';
  if (error.name === 'SecurityError') return `Passkeys can’t be used at ${location.origin}.`;
  const text = String(error.message);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`.replaceAll("'", '’');
}

for (const place of isSupported ? document.querySelectorAll('[data-passkey]') : []) {
  const alert = place.querySelector('[role=alert]');
  const run = place.dataset.passkey === 'create' ? create : signIn;
  place.hidden = false;
  place.querySelector('[autofocus]')?.focus();
  place.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = place.querySelector('button');
    button.disabled = true;
    alert.hidden = true;
    try {
      await run(place.dataset, place);
    } catch (error) {
      if (error.code === 'password_required' || (error.code === 'unauthorized' && run === create))
        return location.assign(locate(`/signin?next=${encodeURIComponent(findPath())}`));
      alert.textContent = explain(error, run === create ? 'created' : 'used');
      alert.hidden = false;
    } finally {
      button.disabled = false;
      if (!alert.hidden) button.focus();
    }
  });
}
