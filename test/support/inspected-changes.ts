import {
  ChatClient,
  CompactionAdvisor,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  ModelCallError,
  piiRule,
  RetrievalAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  SummarizingChatMemory,
  type Advisor,
  type ChatOptions,
  type Tool,
} from '../../src/index.js';
import type { Inspector } from '../../src/bridges/inspector/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { runSpec, type Mode } from './modes.js';

/** A turn whose request advisors change. */
export interface InspectedCase {
  readonly advisors: readonly Advisor[];
  readonly tools?: readonly Tool[];
  /** Answers of the model. @default one text */
  readonly answers?: readonly ScriptedAnswer[];
  readonly options?: ChatOptions;
  readonly conversation?: string;
}

/** A turn in which one advisor changes the request, and how the page of the inspector names that. */
export interface ChangedTurn extends InspectedCase {
  /** The line of the advisor between the application and the model, in the last request. */
  readonly line: RegExp;
  /** A text that the change shows. */
  readonly detail?: string;
}

/** Right of the tool loop. */
export const INSIDE = 6_500;
export const look = defineTool({ name: 'look', execute: () => 'seen' });
const hide = defineTool({ name: 'hide', execute: () => 'hidden' });
export const calls = (name: string): ScriptedAnswer => ({ toolCalls: [{ name }] });

/** Runs a turn with an inspector; its question names anna@example.com. */
export async function runInspected(
  inspector: Inspector,
  { advisors, tools = [], answers = ['Done.'], options = {}, conversation }: InspectedCase,
  { mode = 'call', name = 'Continue' }: { readonly mode?: Mode; readonly name?: string } = {},
): Promise<void> {
  const spec = ChatClient.create(new ScriptedChatModel(answers))
    .prompt()
    .system('Be brief.')
    .user(`${name}, anna@example.com.`)
    .tools(...tools)
    .options(options)
    .advisors(inspector, ...advisors);
  await runSpec(mode, conversation === undefined ? spec : spec.conversation(conversation));
}

/** One turn for each kind of change. */
export async function changedTurns() {
  return {
    'a message is added': {
      advisors: [
        defineAdvisor({
          name: 'reminder',
          order: INSIDE,
          before: (request) =>
            request.withMessages([
              ...request.prompt.messages,
              { role: 'user', content: 'Answer in one line.' },
            ]),
        }),
      ],
      tools: [look],
      answers: [calls('look'), 'Done.'],
      line: /^reminder added a user message/,
      detail: 'Answer in one line.',
    },
    'a tool is removed': {
      advisors: [
        defineAdvisor({
          name: 'fewer-tools',
          order: INSIDE,
          before: (request) =>
            request.iteration === 0
              ? request
              : request.withTools(request.tools.filter((tool) => tool !== hide)),
        }),
      ],
      tools: [look, hide],
      answers: [calls('look'), 'Done.'],
      line: /^fewer-tools removed the tool hide/,
    },
    'an option is changed': {
      advisors: [
        defineAdvisor({
          name: 'cooler',
          order: INSIDE,
          before: (request) => request.withOptions({ temperature: request.iteration / 10 }),
        }),
      ],
      tools: [look],
      answers: [calls('look'), 'Done.'],
      options: { temperature: 1 },
      line: /^cooler changed temperature from 1 to 0.1/,
    },
    'a compaction': {
      advisors: [new CompactionAdvisor({ maxTokens: 900, clearTo: 0.5, keepIterations: 1 })],
      tools: [defineTool({ name: 'page', execute: () => 'word '.repeat(400) })],
      answers: [calls('page'), calls('page'), calls('page'), 'Done.'],
      line: /^compaction (changed|removed|added) /,
    },
    'the mask of a guard': {
      advisors: [new GuardAdvisor({ input: [{ rules: piiRule(), action: 'redact' }] })],
      line: /^guard changed message 2/,
      detail: '[email]',
    },
    'the model of a fallback': {
      advisors: [
        new FallbackAdvisor({ models: [new ScriptedChatModel('Done.', { model: 'spare' })] }),
      ],
      answers: [new ModelCallError('down', { status: 503, retryable: true })],
      line: /^fallback switched from scripted to spare/,
    },
    'an injected document': {
      advisors: [
        new RetrievalAdvisor({
          retriever: {
            retrieve: () =>
              Promise.resolve([{ id: 'd', text: 'Ulm is in Germany.', metadata: {} }]),
          },
          scope: () => 'shop',
        }),
      ],
      line: /^retrieval (added a user message|changed message)/,
      detail: 'Ulm is in Germany.',
    },
    'a steering message': steered(),
    'a summary': await summarized(),
    'the system text': {
      advisors: [
        defineAdvisor({
          name: 'tone',
          order: INSIDE,
          before: (request) =>
            request.withPrompt(request.prompt.augmentSystemMessage((text) => `${text} Be kind.`)),
        }),
      ],
      line: /^tone changed message 1/,
      detail: 'Be kind.',
    },
  } satisfies Record<string, ChangedTurn>;
}

function steered(): ChangedTurn {
  const inbox = new SteeringInbox();
  const send = defineTool({
    name: 'send',
    execute: () => {
      void inbox.send('In Ulm, please.');
      return 'sent';
    },
  });
  return {
    advisors: [new SteeringAdvisor({ inbox })],
    tools: [send, look],
    answers: [calls('send'), calls('look'), 'Done.'],
    line: /^steering added a user message/,
    detail: 'In Ulm, please.',
  };
}

async function summarized(): Promise<ChangedTurn> {
  const repository = new InMemoryChatMemoryRepository();
  const model = new ScriptedChatModel(() => 'Anna lives in Ulm.');
  const chatMemory = new SummarizingChatMemory({ repository, model, maxMessages: 2 });
  const advisors = [new MessageChatMemoryAdvisor({ chatMemory })];
  const client = ChatClient.create(new ScriptedChatModel(() => 'Yes.'));
  for (const question of ['a', 'b']) {
    const spec = client
      .prompt(question)
      .conversation('summed-up')
      .advisors(...advisors);
    const { run } = await spec.call().chatClientResponse();
    await run?.settled; // the summary is stored
  }
  return {
    advisors,
    conversation: 'summed-up',
    line: /^chat-memory added /,
    detail: 'Anna lives in Ulm.',
  };
}
