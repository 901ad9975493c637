/** Records the page's native dialogs with their answer; of the text that was entered, only its kind. */
import type { ActionEntry, ReadOptions } from './capture-types';
import { classifyText } from './actions/text-traits';
import { apply, now, wrap } from './natives/natives';
import { attempt } from './natives/restore-natives';
import { RingBuffer } from './ring-buffer';
import type { Sequence } from './sequence';

const MAX_DIALOGS = 100;

/** Start recording. Returns a function that reads the newest dialogs. */
export function recordDialogs(sequence: Sequence): (options: ReadOptions) => ActionEntry[] {
  const buffer = new RingBuffer<ActionEntry>(MAX_DIALOGS, MAX_DIALOGS * 200);

  for (const dialog of ['alert', 'confirm', 'prompt'] as const)
    wrap(globalThis, dialog, (original) => ({
      call(this: unknown, ...args: never[]) {
        const ts = now();
        const answer = apply(original, this, args) as unknown;
        attempt(() =>
          buffer.push(
            {
              seq: sequence.next(),
              ts,
              kind: 'dialog',
              target: null,
              url: null,
              key: null,
              repeat: 1,
              synthetic: false,
              frame: null,
              document: 0,
              dialog,
              accepted: answer !== false && answer !== null,
              ...(typeof answer === 'string' ? describeAnswer(answer) : { value_kind: null }),
            },
            200,
          ),
        );
        return answer;
      },
    }));

  return (options) => buffer.read(options, ({ ts }) => ts).entries;
}

function describeAnswer(text: string): Pick<ActionEntry, 'value_kind' | 'traits'> {
  const { isEmpty, length, traits } = classifyText(text);
  return isEmpty ? { value_kind: 'empty' } : { value_kind: `text ${length}`, traits };
}
