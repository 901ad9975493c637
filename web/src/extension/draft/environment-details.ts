import type { Environment } from '../../recorder/capture-types';

/** What an environment has beside browser and window: each kind with its values. */
export function listEnvironmentDetails({
  vitals,
  long_frames: frames,
  declared,
  storage,
}: Environment): [string, string[]][] {
  const listed: [string, string[]][] = [
    ['Web vitals', Object.entries(vitals ?? {}).map(([name, value]) => `${name} ${value}`)],
    ['Long frames', (frames ?? []).map((frame) => `${Math.round(frame.duration_ms)} ms`)],
    ['Declared', Object.entries(declared ?? {}).map(([name, value]) => `${name}: ${value}`)],
    ['Local storage', storage?.local ?? []],
    ['Session storage', storage?.session ?? []],
    ['Cookies', storage?.cookies ?? []],
    ['Stored at the start, with stand-ins', listStored(storage?.start)],
  ];
  return listed.filter(([, values]) => values.length > 0);
}

function listStored(start: NonNullable<Environment['storage']>['start']): string[] {
  const values = (start ?? []).flatMap((each) => Object.entries({ ...each.local, ...each.session }));
  return values.map(([name, value]) => (value === null ? name : `${name}: ${value.slice(0, 200)}`));
}

/** An environment with browser and window only. */
export function removeEnvironmentDetails(environment: Environment): Environment {
  const { vitals: _, long_frames: __, declared: ___, storage: ____, ...rest } = environment;
  return rest;
}
