import { invalidInput } from '../http/request-input.js';

/** The last event that a client has. */
export interface SeenEvent {
  readonly generation: number;
  readonly position: number;
  /** Number of its frames that the client has; `Infinity` for all. */
  readonly frames: number;
}

const ID = /^([1-9]\d{0,15})-(\d{1,9})(?:-(\d{1,9}))?$/;

export function eventId(generation: number, position: number): string {
  return `${generation}-${position}`;
}

/**
 * The event of an id from a request.
 * @throws InvalidArgumentError, which is answered by 400, if no event has such an id
 */
export function parseEventId(id: string): SeenEvent {
  const [, generation, position, frames] = ID.exec(id) ?? [];
  if (generation === undefined || !Number.isSafeInteger(Number(generation)))
    throw invalidInput('Last-Event-ID must be the id of an event, such as 1764218255123-17.');
  return {
    generation: Number(generation),
    position: Number(position),
    frames: frames === undefined ? Infinity : Number(frames),
  };
}
