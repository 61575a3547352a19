import type { JsonValue } from '../core/internal/json.js';
import { checkOption, isPlainObject, TEXT } from '../core/internal/options.js';
import { parseArguments } from '../core/tool-execution/check-call.js';
import type { MemoryExtractor } from './memories.js';

/**
 * Remembers an argument that `augmentTools` has added to tools, such as a note of the model: its
 * texts in the tool calls of the turn that have succeeded, each once, as memories of the type
 * `insight`.
 * @throws {@link InvalidArgumentError} if the name is blank
 */
export function insightsOf(argument: string): MemoryExtractor {
  checkOption('insightsOf', 'argument', argument, TEXT);
  return ({ run }) => {
    const succeeded = run.toolCalls.filter(({ result }) => result && !result.isError);
    const texts = succeeded.flatMap(({ call }) =>
      textsOf(parseArguments(call.arguments), argument),
    );
    return [...new Set(texts)].map((text) => ({ type: 'insight', text }));
  };
}

function textsOf(args: JsonValue, argument: string): readonly string[] {
  if (!isPlainObject(args) || !Object.hasOwn(args, argument)) return [];
  return [args[argument]]
    .flat()
    .filter((text): text is string => typeof text === 'string' && text.trim() !== '');
}
