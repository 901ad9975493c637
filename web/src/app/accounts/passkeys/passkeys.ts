import type { AddedPasskey, PasskeySignature } from '../../../../generated/api';
import { api, unwrap } from '../../core/server/client';
import { withPassword } from '../../core/confirmation.svelte';
import { Problem } from '../../core/server/problem';

/** Whether this browser can use passkeys here: they belong to a name, not to an IP address. */
export function canUsePasskeys(): boolean {
  const isIpAddress = /^[\d.]+$|:/.test(location.hostname);
  return !isIpAddress && 'parseRequestOptionsFromJSON' in (window.PublicKeyCredential ?? {});
}

/** Create a passkey on a device that the person chooses, and add it to the account. Raises Problem. */
export async function createPasskey(name: string): Promise<AddedPasskey> {
  const { options } = await withPassword(() => unwrap(api.POST('/profile/passkeys/options')));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const { response } = await readCredential(navigator.credentials.create({ publicKey }));
  const { clientDataJSON, attestationObject } = response;
  return withPassword(() =>
    unwrap(
      api.POST('/profile/passkeys', {
        body: { name, client_data: clientDataJSON!, attestation: attestationObject! },
      }),
    ),
  );
}

/** Confirm the account with one of its passkeys, instead of the password. Raises Problem. */
export async function confirmWithPasskey(): Promise<void> {
  const { options } = await unwrap(api.POST('/session/confirmation/passkey/options'));
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const { id, response } = await readCredential(navigator.credentials.get({ publicKey }));
  const passkey: PasskeySignature = {
    credential_id: id,
    client_data: response.clientDataJSON!,
    authenticator_data: response.authenticatorData!,
    signature: response.signature!,
    user_handle: response.userHandle ?? null,
  };
  await api.POST('/session/confirmation/passkey', { body: { passkey } });
}

type Answer = { id: string; response: Record<string, string | undefined> };

/** Wait for the browser's answer. Raises Problem in words instead of the browser's errors. */
async function readCredential(asked: Promise<Credential | null>): Promise<Answer> {
  try {
    return ((await asked) as PublicKeyCredential).toJSON() as Answer;
  } catch (error) {
    throw new Problem(0, 'passkey', explainFailure(error));
  }
}

/** Explain why the browser returned no passkey, by the errors of Web Authentication. */
export function explainFailure(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'NotAllowedError') return 'No passkey was used. Try again, or choose another way.';
  if (name === 'InvalidStateError') return 'This device already has a passkey of your account.';
  if (name === 'SecurityError') return `Passkeys can’t be used at ${location.origin}.`;
  return message;
}
