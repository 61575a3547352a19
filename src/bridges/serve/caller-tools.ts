import { AdvisorOrder, type Advisor } from '../../core/advisor/advisor.js';
import { defineAdvisor } from '../../core/advisor/define-advisor.js';
import { ContextKey } from '../../core/chat/context.js';
import { callsOf, withoutCalls, type ToolCall } from '../../core/chat/message.js';
import { ToolError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
import type { Tool } from '../../core/tool/tool.js';
import {
  asBoolean,
  asFunctionName,
  asList,
  asObject,
  asText,
  optional,
  needed,
  refuse,
  type Reader,
} from './fields.js';

/** The tools of a caller in one turn, and the calls of them that have ended it. */
export interface CallerTools {
  readonly names: ReadonlySet<string>;
  calls: readonly ToolCall[];
}

export const CALLER_TOOLS = new ContextKey<CallerTools | undefined>('advisor-chain.caller-tools');

/**
 * Ends a turn at an answer that calls tools of the caller: the tool loop gets it without calls. Calls
 * of the chain's own tools in the same answer do not run, since the caller would not get their
 * results; the model makes them again when it has the results of the caller.
 */
export function callerTools(): Advisor {
  return defineAdvisor({
    name: 'caller-tools',
    order: AdvisorOrder.TOOL_CALLING + 1,
    onEvent: (event, request) => {
      const held = request.context.get(CALLER_TOOLS);
      if (event.type !== 'response' || !held) return;
      const { response } = event;
      const { message, generations } = response;
      held.calls = callsOf(message).filter(({ name }) => held.names.has(name));
      if (held.calls.length === 0) return;
      const answer = { ...generations[0], message: withoutCalls(message), finishReason: 'stop' };
      return { ...event, response: response.with({ generations: [answer] }) };
    },
  });
}

/** Tools of a request, which its sender runs. */
export function fromTools(body: JsonObject, max: number): readonly Tool[] {
  const tools = optional(body, 'tools', '', asList(max, asTool)) ?? [];
  const names = new Set(tools.map(({ definition }) => definition.name));
  return names.size === tools.length ? tools : refuse('tools', 'two of them have the same name');
}

const NO_ARGUMENTS = { type: 'object', properties: {} };

const asTool: Reader<Tool> = (value, path) => {
  const tool = asObject(value, path);
  if (tool['type'] !== 'function') return refuse(`${path}.type`, 'it must be function');
  const given = needed(tool, 'function', `${path}.`, asObject);
  const at = `${path}.function.`;
  const name = needed(given, 'name', at, asFunctionName);
  const schema = optional(given, 'parameters', at, asObject) ?? NO_ARGUMENTS;
  const strict = optional(given, 'strict', at, asBoolean);
  if ((schema['type'] ?? 'object') !== 'object')
    return refuse(`${at}parameters.type`, 'it must be object');
  return {
    definition: {
      name,
      description: optional(given, 'description', at, asText) ?? '',
      inputSchema: { ...schema, type: 'object' },
      ...(strict !== undefined && { strict }),
    },
    metadata: { alwaysLoaded: true },
    call: () => {
      throw new ToolError(`The tool "${name}" is run by the caller alone.`);
    },
  };
};
