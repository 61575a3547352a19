import { JsonError } from '../errors.js';
import { parseJson, type JsonValue } from '../internal/json.js';

/**
 * A step as DBOS stores it: text, since its own serialization refuses some names of fields. A run
 * that rejected is recorded only because DBOS numbers steps; its step has no value.
 */
export type StepRecord = { readonly value: JsonValue } | { readonly rejected: string };

export function encodeStep(record: StepRecord): string {
  return JSON.stringify(record);
}

/** @throws {@link JsonError} if the text is not that of a step */
export function decodeStep(name: string, text: unknown): StepRecord {
  const record: unknown = typeof text === 'string' ? parsed(name, text) : undefined;
  if (typeof record === 'object' && record !== null)
    if ('value' in record || 'rejected' in record) return record as StepRecord;
  throw notOurs(name);
}

function parsed(name: string, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw notOurs(name, error);
  }
}

function notOurs(name: string, cause?: unknown): JsonError {
  return new JsonError(
    `The recorded value of the step '${name}' is not one that this engine wrote. Fork the turn from an earlier step, or cancel it and start it again.`,
    { cause },
  );
}
