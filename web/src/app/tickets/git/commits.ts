/** Shorten a commit's hash, as git does. */
export function shortenCommit(commit: string): string {
  return commit.slice(0, 7);
}
