/** Whether a version is newer than another, by its numbers: 1.10 is newer than 1.9. */
export function isNewer(version: string, other: string): boolean {
  const [numbers, others] = [version, other].map((each) => /^[\d.]*/.exec(each)![0].split('.').map(Number));
  for (let place = 0; place < Math.max(numbers!.length, others!.length); place += 1) {
    const difference = (numbers![place] ?? 0) - (others![place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
