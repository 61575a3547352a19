import type { Cancellable } from '../chat/cancellation.js';
import type { Turn } from '../chat/turn.js';
import { idempotencyKey } from './idempotency-key.js';
import type { ToolContext } from './tool.js';

/** What the context of a call is made from. */
export interface ToolContextFields extends Pick<ToolContext, 'call' | 'values' | 'advisorContext' | 'progress'> {
  readonly turn: Turn;
  /** How many calls of the conversation before this one have its id: not every model gives each call an id of its own. */
  readonly calledBefore: () => number;
  readonly cancellation: Cancellable;
}

const made = new WeakMap<ToolContext, ToolContextFields>();

/** The context of a call; its signal and its key are made only if somebody asks for them. */
export function toolContext(fields: ToolContextFields): ToolContext {
  const { call, values, advisorContext, progress, cancellation } = fields;
  let key: string | undefined;
  const context: ToolContext = {
    call,
    get signal() {
      return cancellation.signal;
    },
    values,
    get: ({ name, defaultValue }) => (Object.hasOwn(values, name) ? (values[name] as typeof defaultValue) : defaultValue),
    advisorContext,
    progress,
    get idempotencyKey() {
      return (key ??= idempotencyKey(fields));
    },
  };
  made.set(context, fields);
  return context;
}

/** What a context was made from; undefined for one that somebody else made. */
export function fieldsOf(context: ToolContext): ToolContextFields | undefined {
  return made.get(context);
}
