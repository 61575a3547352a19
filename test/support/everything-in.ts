import { inspect } from 'node:util';

/** Everything that a careless log could show of a value and of its causes. */
export function everythingIn(value: unknown): string {
  const seen: string[] = [];
  for (
    let one: unknown = value;
    one !== undefined;
    one = one instanceof Error ? one.cause : undefined
  ) {
    seen.push(inspect(one, { depth: 10, showHidden: true }), JSON.stringify(one) ?? '');
    if (one instanceof Error) seen.push(String(one), one.message, one.stack ?? '');
  }
  return seen.join('\n');
}
