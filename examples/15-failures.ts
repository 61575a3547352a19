// A turn that survives: a model that fails is asked again, one that stays down is replaced, one that stalls is given up.
import {
  ChatClient,
  defineTool,
  FallbackAdvisor,
  ModelCallError,
  RetryAdvisor,
  TimeoutAdvisor,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const overloaded = new ModelCallError('The model is overloaded', {
  status: 529,
  retryable: true,
  retryAfter: 50, // the server asks for 50 ms; without it the first wait is about 500 ms
});
const book = defineTool({
  name: 'book_room',
  effect: 'write',
  execute: () => {
    console.log('booked: room 7');
    return 'booked';
  },
});

// fails once, books a room, then breaks off twice in the middle of the answer
const main = new ScriptedChatModel(
  [
    overloaded,
    { toolCalls: [{ name: 'book_room' }], model: 'main' },
    { text: 'Room 7 is bo', error: overloaded },
    { text: 'Room 7 is', error: overloaded },
  ],
  { model: 'main' },
);
const other = new ScriptedChatModel([{ text: 'Room 7 is booked.', model: 'other' }]);

const client = ChatClient.builder(main)
  .defaultTools(book)
  .defaultAdvisors(
    new TimeoutAdvisor({ turn: 60_000 }),
    new FallbackAdvisor({ models: [other] }),
    new RetryAdvisor({ maxRetries: 1 }),
    new TimeoutAdvisor({ firstDelta: 5_000, idle: 10_000 }),
  )
  .build();

const turn = client.prompt('Book a room.').stream();
for await (const event of turn.events()) {
  if (event.type === 'text-delta') console.log(`text:   ${event.text.trim()}`);
  if (event.type === 'retract') console.log('void:   the text of this iteration');
  if (event.type === 'response') {
    console.log(`answer: ${event.response.text}`);
    for (const { iteration, model, attempt, outcome } of event.run?.ledger ?? [])
      console.log(`  iteration ${iteration}, attempt ${attempt}: ${model} ${outcome}`);
  }
}

// a model that never answers
const stalled = new ScriptedChatModel([{ text: 'never', delay: 60_000 }]);
const impatient = ChatClient.create(stalled).prompt('Hello?');
try {
  await impatient
    .advisors(new TimeoutAdvisor({ iteration: 50 }))
    .call()
    .content();
} catch (error) {
  console.log(`stall:  ${String(error)}`);
}
