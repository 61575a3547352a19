import { JsonError } from '../../core/errors/errors.js';
import type { JsonValue } from '../../core/internal/json.js';

/**
 * A step as DBOS stores it: text, since its own serialization refuses some names of fields. A run
 * that rejected is recorded only because DBOS numbers steps; its step has no value.
 */
export type StepRecord = { readonly value: JsonValue } | { readonly rejected: string };

export function encodeStep(record: StepRecord): string {
  return JSON.stringify(record);
}

/** @throws {@link JsonError} if the text is not a step */
export function decodeStep(name: string, text: unknown): StepRecord {
  const record = parseStored(text, `The recorded value of the step '${name}'`);
  if (typeof record === 'object' && record !== null)
    if ('value' in record || 'rejected' in record) return record as StepRecord;
  throw notOurs(`The recorded value of the step '${name}'`);
}

/**
 * The data of a text that a turn has stored.
 * @param what the text in error messages
 * @throws {@link JsonError} if it is not JSON
 */
export function parseStored(text: unknown, what: string): unknown {
  if (typeof text !== 'string') throw notOurs(what);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notOurs(what, error);
  }
}

function notOurs(what: string, cause?: unknown): JsonError {
  return new JsonError(
    `${what} is not one that a turn has written: its workflow has steps of DBOS of its own, or the database was changed. Use turn.engine.step in run, and fork the turn from an earlier step.`,
    { cause },
  );
}

/** A value sent to a turn, with its name, which DBOS does not record for received values. */
export interface TurnMessage {
  readonly name: string;
  readonly value: JsonValue;
}

/** As text, since the serialization of DBOS refuses some names of fields. */
export function encodeMessage({ name, value }: TurnMessage): string {
  return JSON.stringify({ name, value });
}

/** @throws {@link JsonError} if the text is not JSON */
export function decodeMessage(text: string): TurnMessage {
  return parseStored(text, 'A value that was sent to the turn') as TurnMessage;
}
