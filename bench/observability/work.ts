// The measured work: turns of a chat client, over the wire and with a model in the same process.
import { ChatClient, defineTool, type Advisor } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/scripted-chat-model.js';
import { ANSWER, CHUNKS, ITERATIONS, TOOL } from './answers.js';

/** A kind of turn, with its sample size. */
export interface Scenario {
  readonly name: string;
  readonly kind: 'loop' | 'chunks';
  readonly mode: 'call' | 'stream';
  readonly wire: boolean;
  /** Turns per sample of about a fiftieth of a second. */
  readonly turns: number;
  /** Sets of fresh processes: one process has a bias of its own that more rounds do not remove. */
  readonly sets: number;
}

const wire = { wire: true, sets: 6 } as const;
const noWire = { wire: false, sets: 2 } as const;

export const SCENARIOS: readonly Scenario[] = [
  { name: 'tool loop, wire, call', kind: 'loop', mode: 'call', turns: 4, ...wire },
  { name: 'tool loop, wire, stream', kind: 'loop', mode: 'stream', turns: 3, ...wire },
  { name: 'tool loop, no wire, call', kind: 'loop', mode: 'call', turns: 80, ...noWire },
  { name: 'tool loop, no wire, stream', kind: 'loop', mode: 'stream', turns: 80, ...noWire },
  { name: '2,000 chunks, wire, stream', kind: 'chunks', mode: 'stream', turns: 3, ...wire },
  { name: '2,000 chunks, no wire, stream', kind: 'chunks', mode: 'stream', turns: 15, ...noWire },
];

const QUESTION = 'What is the weather in Paris today?';
const usage = { inputTokens: 82, outputTokens: 17, totalTokens: 99 };

const LOOP: readonly ScriptedAnswer[] = [
  ...Array.from({ length: ITERATIONS }, (_, step) => {
    const args = JSON.stringify({ city: 'Paris', unit: 'celsius', step });
    return { toolCalls: [{ id: `call_${step}`, name: TOOL, arguments: args }], usage };
  }),
  { text: ANSWER, usage },
];
const TEXT: ScriptedAnswer = {
  deltas: Array.from({ length: CHUNKS }, (_, at) => ` tok${at % 10}`),
  usage,
};

const weather = defineTool({
  name: TOOL,
  description: 'Returns the weather of a city',
  input: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'The city' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'], description: 'The unit' },
      step: { type: 'integer', description: 'A counter' },
    },
    required: ['city', 'unit', 'step'],
    additionalProperties: false,
  },
  execute: async (input) => `Sunny, 21 degrees in ${(input as { readonly city: string }).city}`,
});

function read(client: ChatClient): Promise<number> {
  return new Promise((resolve, reject) => {
    let length = 0;
    const next = (text: string): void => {
      length += text.length;
    };
    client
      .prompt(QUESTION)
      .stream()
      .content()
      .subscribe({ next, error: reject, complete: () => resolve(length) });
  });
}

/** Does the turns of one sample, one after the other. The client lives as long as the process, as in an application. */
export function workOf(
  scenario: Scenario,
  port: number,
  advisors: readonly Advisor[],
): () => Promise<void> {
  const { name, kind, mode, wire, turns } = scenario;
  const script = kind === 'loop' ? LOOP : [TEXT];
  const scripted = new ScriptedChatModel(
    (_, index) => script[index % script.length] as ScriptedAnswer,
  );
  const builder = ChatClient.builder(
    wire
      ? new OpenAIChatModel({
          model: 'bench',
          apiKey: 'sk-test',
          baseURL: `http://127.0.0.1:${port}/v1`,
          maxRetries: 0,
        })
      : scripted,
  );
  const client = builder
    .defaultSystem('You are a helpful assistant that answers in one sentence.')
    .defaultTools(...(kind === 'loop' ? [weather] : []))
    .defaultAdvisors(...advisors)
    .build();
  const expected = kind === 'loop' ? ANSWER.length : CHUNKS * ' tok0'.length;
  return async () => {
    for (let turn = 0; turn < turns; turn++) {
      const length =
        mode === 'stream'
          ? await read(client)
          : (await client.prompt(QUESTION).call().content())?.length;
      if (length !== expected)
        throw new Error(`${name}: an answer of ${length} characters, not ${expected}`);
    }
    scripted.prompts.length = 0; // it keeps what it was asked
  };
}
