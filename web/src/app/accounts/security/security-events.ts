import type { SecurityAction, SecurityEvent } from '../../../../generated/api';

const LABELS: Record<SecurityAction, string> = {
  sign_in: 'Signed in',
  sign_out: 'Signed out',
  password_check: 'Confirmed the password',
  password_change: 'Changed the password',
  password_reset_request: 'Requested a link for a new password',
  address_request: 'Requested a new email address',
  address_change: 'Changed the email address',
  invitation_mail: 'Sent an invitation by email',
  invitation_accept: 'Invitation accepted',
  token_create: 'Created a token',
  token_revoke: 'Revoked a token',
  account_disable: 'Account disabled',
  account_enable: 'Account enabled',
  provider_link: 'Linked the identity provider',
  provider_unlink: 'Unlinked the identity provider',
  sign_in_link: 'Link to sign in created',
  second_factor_enable: 'Turned the second factor on',
  second_factor_disable: 'Turned the second factor off',
  second_factor_check: 'Entered a code',
  recovery_code: 'Used a recovery code',
  recovery_codes_replace: 'Created new recovery codes',
  passkey_add: 'Added a passkey',
  passkey_check: 'Used a passkey',
  passkey_delete: 'Deleted a passkey',
};

const REFUSALS: Partial<Record<SecurityAction, string>> = {
  sign_in: 'Sign-in refused: wrong password',
  password_check: 'Wrong password',
  second_factor_check: 'Wrong code',
  passkey_check: 'Passkey refused',
  password_change: 'Password not changed: wrong current password',
  invitation_accept: 'Your invitation was tried with the address of an existing account',
};

/** What happened, in words; for an unknown action of a newer server, its name. */
export function describeSecurityEvent(event: SecurityEvent): string {
  const label =
    event.outcome === 'done' ? LABELS[event.action] : (REFUSALS[event.action] ?? LABELS[event.action]);
  const { label: token, passkey, to, new_device: isNew } = event.data as Record<string, unknown>;
  const details = [
    typeof token === 'string' ? `“${token}”` : '',
    typeof passkey === 'string' ? (event.action === 'sign_in' ? 'with a passkey' : `“${passkey}”`) : '',
    typeof to === 'string' ? `to ${to}` : '',
    isNew === true ? 'with a new browser' : '',
  ];
  const times = event.count > 1 ? `(${event.count} times)` : '';
  return [label ?? event.action, ...details, times].filter(Boolean).join(' ');
}

/** Where it came from: address, or the command line of the server. */
export function describeSource(event: SecurityEvent): string {
  if (event.via === 'cli') return 'by the operator of the server';
  return event.address ?? 'Unknown address';
}
