import { lastValueFrom } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  IncompleteResponseError,
  ModelCallError,
  type Advisor,
  type ChatEvent,
  type ChatResponse,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import type { Mode } from './modes.js';
import { withoutDurations } from './turn.js';

/** Everything that a caller receives from a turn. */
export interface Outcome {
  readonly events: readonly ChatEvent[];
  readonly response?: ChatResponse;
  readonly error?: unknown;
}

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const refused = new ModelCallError('no', { status: 429, providerMessage: 'slow down' });
const cutOff = new IncompleteResponseError('cut off', { partialText: 'one two' });
const broken = new TypeError('no disk');

const look = defineTool({
  name: 'look',
  execute: async (_args, { progress }) => {
    progress('half');
    await new Promise(setImmediate);
    return 'found';
  },
});
const fail = defineTool({
  name: 'fail',
  execute: () => {
    throw broken;
  },
});
const ask = (
  ...names: readonly string[]
): { readonly toolCalls: readonly { readonly name: string }[]; readonly usage: typeof usage } => ({
  toolCalls: names.map((name) => ({ name })),
  usage,
});

/** Turns with every kind of end. */
export const TURNS: Readonly<Record<string, Script>> = {
  'with tools that answer, fail and do not exist': [
    ask('look', 'fail', 'made_up'),
    ask('look'),
    { text: 'It is there.', usage },
  ],
  'whose model refuses': [ask('look'), refused],
  'whose answer is cut off': [{ deltas: ['one ', 'two'], error: cutOff }],
  'that is cancelled': [ask('look', 'stop'), 'never'],
  'that fails in an advisor': ['an unused answer'],
};

/** Runs a turn to its end, with these advisors in its chain. */
export async function outcomeOf(
  name: string,
  mode: Mode,
  advisors: readonly Advisor[],
): Promise<Outcome> {
  const events: ChatEvent[] = [];
  const controller = new AbortController();
  const stop = defineTool({ name: 'stop', execute: () => controller.abort('enough') });
  const listener = defineAdvisor({
    name: 'listener',
    order: 0,
    onEvent: (event) => void events.push(withoutDurations(event)),
  });
  const breaker = defineAdvisor({
    name: 'breaker',
    order: AdvisorOrder.GUARD,
    after: () => {
      if (name.includes('an advisor')) throw broken;
    },
  });
  const spec = ChatClient.create(new ScriptedChatModel(TURNS[name] as Script))
    .prompt('Look.')
    .system('Be brief.')
    .tools(look, fail, stop)
    .advisors(listener, breaker, ...advisors)
    .signal(controller.signal);
  try {
    const response =
      mode === 'call'
        ? await spec.call().chatResponse()
        : await lastValueFrom(spec.stream().chatResponse());
    return { events, response };
  } catch (error) {
    return { events, error };
  }
}
