import type { JsonValue } from '../internal/json.js';
import { parseStored } from './recorded-step.js';

/** A value that was sent to a turn; it has its name, since DBOS does not record that of what it received. */
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
