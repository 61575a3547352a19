import { ChatClientRequest } from '../../advisor/chat-client-request.js';
import { AdvisorContext } from '../../chat/context.js';

/**
 * Events or requests as plain data, without what belongs to one run: modes, signals, and the values
 * of contexts, such as times and ids.
 */
export function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (item instanceof AdvisorContext) return [...item.entries()].map(([name]) => name).toSorted();
    if (!(item instanceof ChatClientRequest)) return item;
    const { prompt, tools, toolContext, context, iteration } = item;
    const { messages, options } = prompt;
    const definitions = tools.map(({ definition }) => definition);
    return { messages, options, definitions, toolContext, context, iteration };
  });
  return JSON.parse(text) as unknown;
}
