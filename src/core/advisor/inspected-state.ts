import { safeJson } from '../internal/safe-json.js';
import type { InspectedState } from './advisor.js';

/** Fields as the state of an advisor: without those that are undefined, and what JSON cannot hold as a text. */
export function inspectedState(fields: Readonly<Record<string, unknown>>): InspectedState {
  return safeJson(fields) as InspectedState;
}
