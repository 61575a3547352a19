import {
  agentTool,
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  toolResult,
  type Advisor,
} from '../../src/index.js';
import type { StreamResult } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';

/** Text that no browser may see. */
export const SECRET = 'canary-secret-4711';
const TOKEN = new ContextKey<string>('app.token', '');

const lookUp = defineTool({
  name: 'lookUp',
  execute: () => toolResult({ value: { row: SECRET }, content: 'one row' }),
});
const fail = defineTool({
  name: 'fail',
  execute: () => {
    throw new Error(SECRET);
  },
});
const leaky = defineAdvisor({
  name: 'leaky',
  order: 0,
  around: (request, next) => next(request.withContext(TOKEN, SECRET)),
});
const calls = [{ name: 'lookUp' }, { name: 'fail' }];
const cited = { url: 'https://example.org', raw: { internal: SECRET } };

/** An advisor that emits a custom event before each text. */
export function emitter(name: string, data: unknown): Advisor {
  return defineAdvisor({
    name: `emits-${name}`,
    order: 100,
    onEvent: (event) =>
      event.type === 'text-delta' ? [{ type: 'custom', name, data } as never, event] : event,
  });
}

/** A turn with an agent inside, whose events have a secret wherever a browser must not see it. */
export function streamWithSecrets(): StreamResult {
  const answers = [
    { toolCalls: calls, metadata: { raw: SECRET } },
    { text: 'Done.', citations: [cited], metadata: { raw: SECRET } },
  ];
  const advisors = [leaky, emitter('findings', { text: SECRET })];
  const inner = ChatClient.builder(new ScriptedChatModel(answers))
    .defaultSystem(`Never show ${SECRET}.`)
    .defaultTools(lookUp, fail)
    .defaultAdvisors(...advisors)
    .build();
  const agent = agentTool(inner, { name: 'agent', description: 'An agent.' });
  const outer = [{ toolCalls: [{ name: 'agent', arguments: { message: 'Q' } }, ...calls] }, ...answers.slice(1)]; // prettier-ignore
  return ChatClient.builder(new ScriptedChatModel(outer))
    .defaultSystem(`Never show ${SECRET}.`)
    .defaultTools(agent, lookUp, fail)
    .defaultAdvisors(...advisors)
    .build()
    .prompt('Q')
    .toolContext({ token: SECRET })
    .stream();
}
