import { AdvisorOrder, type Advisor } from '../../core/advisor/advisor.js';
import { defineAdvisor } from '../../core/advisor/define-advisor.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
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

/** Names of the tools of a caller, in its turn. */
export const CALLER_TOOLS = new ContextKey<ReadonlySet<string> | undefined>(
  'advisor-chain.caller-tools',
);

/** Field of the metadata of an answer, so that what keeps or replaces the answer does so with its calls. */
const CALLS = 'advisor-chain.caller-calls';

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
      const names = request.context.get(CALLER_TOOLS);
      if (event.type !== 'response' || !names) return;
      const { response } = event;
      const { message, result } = response;
      const calls = callsOf(message).filter(({ name }) => names.has(name));
      if (calls.length === 0) return;
      const metadata = { ...result?.metadata, [CALLS]: calls };
      const answer = { ...result, message: withoutCalls(message), finishReason: 'stop', metadata };
      return { ...event, response: response.with({ generations: [answer] }) };
    },
  });
}

/** Calls that the caller has to run; a client without a tool loop leaves all of them. */
export function openCalls({ message, result }: ChatResponse): readonly ToolCall[] {
  const calls = result?.metadata?.[CALLS] as readonly ToolCall[] | undefined;
  return calls ?? callsOf(message);
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
