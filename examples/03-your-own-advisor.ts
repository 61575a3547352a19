// Advisors of your own. The same advisor twice: left of the tool loop it sees the turn, right of it every iteration.
import {
  AdvisorOrder,
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  textOf,
  type Advisor,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const watch = (name: string, order: number): Advisor =>
  defineAdvisor({
    name,
    order,
    before: ({ prompt }) =>
      console.log(`${name} > ${prompt.messages.map(({ role }) => role).join(', ')}`),
    after: (response) =>
      console.log(`${name} < ${response.hasToolCalls() ? 'asks for a tool' : response.text}`),
  });

// around the rest of the chain: it changes the request and leaves a value for those outside; it could also answer by itself
const REDACTED = new ContextKey('example.redacted', false);
const redact = defineAdvisor({
  name: 'redact',
  order: AdvisorOrder.GUARD,
  around: async (request, next) => {
    const clean = request.prompt.augmentUserMessage((text) => text.replaceAll(/\d{4,}/g, '****'));
    return next(request.withPrompt(clean).withContext(REDACTED, true));
  },
});

const balance = defineTool({ name: 'get_balance', execute: () => '120 €' });
const model = new ScriptedChatModel([{ toolCalls: [{ name: 'get_balance' }] }, 'You have 120 €.']);
const client = ChatClient.builder(model)
  .defaultTools(balance)
  .defaultAdvisors(
    watch('turn     ', AdvisorOrder.OBSERVABILITY),
    redact,
    watch('iteration', AdvisorOrder.LOGGER),
  )
  .build();

console.log(`${String(client.explain())}\n`);
const response = await client
  .prompt('My card is 4929123412341234. What is my balance?')
  .call()
  .chatClientResponse();
console.log(`\nThe model read: ${textOf(model.prompts[0]?.userMessage?.content ?? '')}`);
console.log(`The caller got: ${response.text} (redacted: ${response.context.get(REDACTED)})`);
