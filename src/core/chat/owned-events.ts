import { InvalidArgumentError } from '../errors/errors.js';
import type { CustomEvent, CustomEvents } from './chat-event.js';

/** Not enumerable: data from outside, and copies of an event, do not have it. */
const MARK = Symbol.for('advisor-chain.owned-event');
const OWNERS = new Map<string, string>();

/**
 * Makes the events of a name that only one part emits, since others rely on what they report.
 * @param owner the part, for error messages
 */
export function ownedEvent<N extends keyof CustomEvents>(
  name: N,
  owner: string,
): (data: CustomEvents[N]) => CustomEvent {
  OWNERS.set(name, owner);
  return (data) =>
    Object.defineProperty({ type: 'custom', name, data } as CustomEvent, MARK, { value: name });
}

/** The owner of the name of an event that another part has made; undefined for other events. */
export function forgedOwner(event: CustomEvent): string | undefined {
  const isOwn = (event as { readonly [MARK]?: unknown })[MARK] === event.name;
  return isOwn ? undefined : OWNERS.get(event.name);
}

/** @throws {@link InvalidArgumentError} if another part has made it */
export function checkOwner(event: CustomEvent, where: string): void {
  const owner = forgedOwner(event);
  if (owner === undefined) return;
  throw new InvalidArgumentError(
    `${where}: only the ${owner} emits the event "${event.name}"; give it a name of its own`,
  );
}
