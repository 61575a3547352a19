import type { Metadata } from '../../chat/message.js';
import type { JsonObject } from '../../internal/options.js';
import { objectOf } from '../http/fields.js';

/** Key of the provider's fields in the metadata of a message. */
const KEY = 'cohere';

/** Fields of an answer that a later request returns. */
interface KeptFields {
  /** Plan of the model for its tool calls, which is the reasoning of the message. */
  readonly plan?: string;
  /** Reasoning besides the plan. */
  readonly thinking?: string;
  readonly citations?: readonly unknown[];
}

/** Metadata with the fields of an answer; undefined if there are none. */
export function toMetadata({ plan, thinking, citations = [] }: KeptFields): Metadata | undefined {
  const fields: JsonObject = {
    ...(plan && { tool_plan: plan, ...(thinking && { thinking }) }),
    ...(citations.length > 0 && { citations }),
  };
  return Object.keys(fields).length > 0 ? { [KEY]: fields } : undefined;
}

export function fromMetadata(metadata: Metadata | undefined): KeptFields {
  const { tool_plan: plan, thinking, citations } = objectOf(metadata?.[KEY]);
  return {
    ...(typeof plan === 'string' && { plan }),
    ...(typeof thinking === 'string' && { thinking }),
    ...(Array.isArray(citations) && { citations }),
  };
}
