import { expect, test } from 'vitest';
import { applyPolicy } from '../../src/extension/outbox/capture-policy';
import { readMessage } from '../../src/recorder/network/bodies';
import type { CapturePolicy, NetworkEntry } from '../../src/recorder/capture-types';
import type { Draft } from '../../src/extension/storage';

const policy = (bodies: CapturePolicy['bodies']) =>
  ({ bodies, extra_redactions: [], actions: 'on', replay: 30 }) as unknown as CapturePolicy;

function draftWith(body: string): Draft {
  const messages = [{ ts: 1, sent: false, body, bytes: body.length, omitted_reason: null }];
  const entry = {
    url: 'wss://shop.example/',
    method: 'GET',
    type: 'websocket',
    messages,
  } as unknown as NetworkEntry;
  const envelope = {
    page: { url: 'https://shop.example/', title: '', referrer: null },
    environment: {},
    health: {},
    redaction: { headers: 0, query: 0, keys: 0, patterns: 0, extra: 0 },
  };
  return {
    envelope,
    streams: { console: [], network: [entry], errors: [], actions: [] },
  } as unknown as Draft;
}

test('a message is kept beyond what is sent, so that a secret in it is recognised before it is cut', () => {
  const text = `${'x'.repeat(390)} ghp_abcdefghijklmnopqrstuvwxyz0123456789`;
  const message = readMessage(text, true);
  expect(message.omitted_reason).toBe('limit');
  const draft = draftWith(message.body!);
  applyPolicy(draft, policy('on'));
  const [sent] = draft.streams.network[0]!.messages!;
  expect(sent!.body).toHaveLength(400);
  expect(sent!.body).not.toContain('ghp_');
});

test('messages have no text where the policy excludes bodies, and their size anyway', () => {
  expect(readMessage('tea', false)).toEqual({ body: null, bytes: 3, omitted_reason: 'policy' });
  const draft = draftWith('tea');
  applyPolicy(draft, policy('off'));
  expect(draft.streams.network[0]!.messages).toEqual([
    { ts: 1, sent: false, body: null, bytes: 3, omitted_reason: 'policy' },
  ]);
});

test('messages become stand-ins where the policy keeps shapes', () => {
  const draft = draftWith('{"name":"Ada Lovelace"}');
  applyPolicy(draft, policy('shape'));
  expect(draft.streams.network[0]!.messages![0]!.body).toMatch(/^\{"name":".{12}"\}$/);
  expect(draft.streams.network[0]!.messages![0]!.body).not.toContain('Lovelace');
});

test('binary messages have a size and no text', () => {
  expect(readMessage(new Uint8Array(7), true)).toEqual({ body: null, bytes: 7, omitted_reason: 'binary' });
});
