import type { ChatClientRequest } from './chat-client-request.js';

/** A copy that offers no tools, so that the model has to answer. */
export function withoutTools(request: ChatClientRequest): ChatClientRequest {
  const { prompt } = request;
  const options = { ...prompt.options };
  for (const name of ['tools', 'providerTools', 'toolChoice', 'parallelToolCalls'] as const)
    delete options[name];
  return request.with({ tools: [], prompt: prompt.replaceOptions(options) });
}
