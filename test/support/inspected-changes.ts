import {
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
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

/** A turn in which one advisor changes the request, and how the inspector names that. */
export interface ChangedTurn {
  readonly advisors: readonly Advisor[];
  readonly tools?: readonly Tool[];
  /** Answers of the model. @default one text */
  readonly answers?: readonly ScriptedAnswer[];
  readonly conversation?: string;
  /** The line of the advisor between the application and the model, in the last request. */
  readonly line: RegExp;
  /** A text that the change shows. */
  readonly detail?: string;
}

/** Right of the tool loop. */
const INSIDE = 6_500;
const look = defineTool({ name: 'look', execute: () => 'seen' });
const hide = defineTool({ name: 'hide', execute: () => 'hidden' });
const calls = (name: string): ScriptedAnswer => ({ toolCalls: [{ name }] });

/** One turn for each kind of change; each question names anna@example.com */
export async function changedTurns(): Promise<Readonly<Record<string, ChangedTurn>>> {
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
      line: /^reminder added a user message/,
      detail: 'Answer in one line.',
    },
    'a tool is removed': {
      advisors: [
        defineAdvisor({
          name: 'fewer-tools',
          order: INSIDE,
          before: (request) => request.withTools(request.tools.filter((tool) => tool !== hide)),
        }),
      ],
      tools: [look, hide],
      line: /^fewer-tools removed the tool hide/,
    },
    'an option is changed': {
      advisors: [
        defineAdvisor({
          name: 'cooler',
          order: INSIDE,
          before: (request) => request.withOptions({ temperature: 0 }),
        }),
      ],
      line: /^cooler set temperature to 0/,
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
  };
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
    tools: [send],
    answers: [calls('send'), 'Done.'],
    line: /^steering added a user message/,
    detail: 'In Ulm, please.',
  };
}

async function summarized(): Promise<ChangedTurn> {
  const repository = new InMemoryChatMemoryRepository();
  const model = new ScriptedChatModel(() => 'Anna lives in Ulm.');
  const chatMemory = new SummarizingChatMemory({ repository, model, maxMessages: 2 });
  for (const text of ['a', 'b', 'c'])
    await chatMemory.add('summed-up', [
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ]);
  return {
    advisors: [new MessageChatMemoryAdvisor({ chatMemory })],
    conversation: 'summed-up',
    line: /^chat-memory added /,
    detail: 'Anna lives in Ulm.',
  };
}
