import type { ChatClientRequest } from './chat-client-request.js';

/**
 * A copy that does not offer the tools of these names; without names it offers none, so that the
 * model has to answer.
 */
export function withoutTools(
  request: ChatClientRequest,
  names?: ReadonlySet<string>,
): ChatClientRequest {
  const { prompt, tools } = request;
  if (names)
    return request.withTools(tools.filter(({ definition }) => !names.has(definition.name)));
  const options = { ...prompt.options };
  for (const name of ['tools', 'providerTools', 'toolChoice', 'parallelToolCalls'] as const)
    delete options[name];
  return request.with({ tools: [], prompt: prompt.replaceOptions(options) });
}
