import { callsOf } from '../../../src/core/chat/message.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { format, resolveConfig } from 'prettier';
import {
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  type Message,
  MessageChatMemoryAdvisor,
  type MessageChatMemoryAdvisorOptions,
  MessageWindowChatMemory,
  ModelCallError,
  type PausedTurn,
  type PromptSpec,
  type RunReport,
  textOf,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { INSIDE } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';

const SETTINGS: Readonly<Record<string, Partial<MessageChatMemoryAdvisorOptions>>> = {
  '`discard`': {},
  '`discard`, tool messages': { storeToolMessages: true },
  '`keep-partial`': { onIncomplete: 'keep-partial' },
  '`keep-partial`, tool messages': { onIncomplete: 'keep-partial', storeToolMessages: true },
  'inside, `discard`': { order: INSIDE },
  'inside, `keep-partial`': { order: INSIDE, onIncomplete: 'keep-partial' },
};

/** A turn, and how it ends. */
interface End {
  readonly script: readonly ScriptedAnswer[];
  readonly play: (setting: Setting) => Promise<unknown>;
  /** True if only a stream has shown the text. */
  readonly isStreamed?: boolean;
}

const CALL: ScriptedAnswer = { text: 'I look.', toolCalls: [{ id: 'c1', name: 'look' }] };
const PAY: ScriptedAnswer = { text: 'I pay.', toolCalls: [{ id: 'p1', name: 'pay' }] };
const DOWN = new ModelCallError('down', { retryable: true, status: 503 });
const CUT: ScriptedAnswer = {
  deltas: ['Half '],
  error: new ModelCallError('cut', { partialText: 'Half ' }),
};
const SLOW: ScriptedAnswer = { deltas: ['Half ', 'an ', 'answer.'], delay: 5 };

class Setting {
  readonly repository = new InMemoryChatMemoryRepository();
  readonly stop = new AbortController();
  /** Stops the turn when a tool runs. */
  stopsInTool = false;
  private readonly client: ChatClient;

  constructor(
    readonly mode: Mode,
    options: Partial<MessageChatMemoryAdvisorOptions>,
    { script }: End,
  ) {
    const chatMemory = new MessageWindowChatMemory({ repository: this.repository });
    const look = defineTool({
      name: 'look',
      effect: 'read',
      execute: () => {
        if (this.stopsInTool) this.stop.abort();
        return this.stopsInTool ? new Promise(() => undefined) : 'seen';
      },
    });
    const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
    this.client = ChatClient.builder(new ScriptedChatModel(script))
      .defaultTools(look, pay)
      .defaultAdvisors(
        new ApprovalAdvisor({ pause: pauseOptions() }),
        new MessageChatMemoryAdvisor({ chatMemory, ...options }),
      )
      .build();
  }

  private spec(): PromptSpec {
    return this.client
      .prompt('question')
      .turnId('turn 17')
      .advisors((each) => each.param(CONVERSATION_ID, 'c'))
      .signal(this.stop.signal);
  }

  ask = (): Promise<unknown> => runSpec(this.mode, this.spec());
  fail = (): Promise<unknown> => failureOf(this.ask());

  async stopWith(type: 'iteration-start' | 'text-delta'): Promise<void> {
    const events = this.spec().stream().events() as unknown as AsyncIterable<{ type: string }>;
    const reading = async (): Promise<void> => {
      for await (const event of events) if (event.type === type) this.stop.abort();
    };
    await settledAfter(await failureOf(reading()));
  }

  async stopInTool(): Promise<void> {
    this.stopsInTool = true;
    await settledAfter(await this.fail());
  }

  pause = async (): Promise<() => PromptSpec> => {
    const response = await runSpec(this.mode, this.spec());
    const { state } = response.paused as PausedTurn;
    const decisions = decideAll(response);
    return () => this.client.resume(state, decisions);
  };

  async stored(): Promise<string> {
    const { messages } = await this.repository.read('c');
    return messages.map(({ message }) => kindOf(message)).join(', ');
  }
}

/** Waits until the tools of a failed run have been given up, and its partial turn is stored. */
async function settledAfter(error: unknown): Promise<void> {
  const { settled } = (error as { readonly run: RunReport }).run;
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 20))]);
}

function kindOf(message: Message): string {
  if (message.role === 'user') return 'question';
  if (message.role === 'tool') return 'result';
  if (message.role !== 'assistant') return message.role;
  if (message.metadata?.['incomplete']) return `“${textOf(message).trim()}”`;
  return callsOf(message).length > 0 ? 'call' : textOf(message);
}

const ENDS: Readonly<Record<string, End>> = {
  answered: { script: [CALL, 'answer'], play: ({ ask }) => ask() },
  'failed before any text': { script: [DOWN], play: ({ fail }) => fail() },
  'failed in its text': { script: [CUT], play: ({ fail }) => fail() },
  'failed after a tool': { script: [CALL, DOWN], play: ({ fail }) => fail() },
  'cancelled before any text': {
    script: [SLOW],
    play: (setting) => setting.stopWith('iteration-start'),
  },
  'cancelled in its text': { script: [SLOW], play: (setting) => setting.stopWith('text-delta') },
  'cancelled in a tool': { script: [CALL], play: (setting) => setting.stopInTool() },
  paused: { script: [PAY], play: ({ pause }) => pause() },
  'paused, resumed, failed': {
    script: [PAY, CUT],
    play: async ({ mode, pause }) => failureOf(runSpec(mode, (await pause())())),
  },
  'the same, resumed again and answered': {
    script: [PAY, CUT, 'answer'],
    play: async ({ mode, pause }) => {
      const resumed = await pause();
      await failureOf(runSpec(mode, resumed()));
      await runSpec(mode, resumed());
    },
  },
  'failed, and the same turn id answered': {
    script: [CALL, CUT, CALL, 'answer'],
    play: async ({ ask, fail }) => {
      await fail();
      await ask();
    },
  },
  'answered, and the same turn id failed': {
    script: [CALL, 'answer', CALL, CUT],
    play: async ({ ask, fail }) => {
      await ask();
      await fail();
    },
  },
  'answered, and the same turn id again': {
    script: ['answer', 'another answer'],
    play: async ({ ask }) => {
      await ask();
      await ask();
    },
  },
};

async function rowsOf(mode: Mode): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const [name, end] of Object.entries(ENDS)) {
    const cells: string[] = [];
    for (const options of Object.values(SETTINGS)) {
      const setting = new Setting(mode, options, end);
      await end.play(setting);
      cells.push((await setting.stored()) || '–');
    }
    rows.push(`| ${[name, ...cells].join(' | ')} |`);
  }
  return rows;
}

const PAGE = new URL('../../../docs/memory.md', import.meta.url);
const BLOCK = /(<!-- table: stored turns -->\n)[^]*?(\n<!-- end of table -->)/;

describe('the table of what a memory stores', () => {
  for (const mode of MODES)
    it(`[D73] [D74] [D82] stands in the docs (${mode}); WRITE_TABLES=1 writes it`, async () => {
      const columns = ['end of the turn', ...Object.keys(SETTINGS)];
      const head = [`| ${columns.join(' | ')} |`, `|${' --- |'.repeat(columns.length)}`];
      const table = [...head, ...(await rowsOf(mode))].join('\n');
      const page = readFileSync(PAGE, 'utf8');
      const path = PAGE.pathname;
      const expected = await format(
        page.replace(BLOCK, (_, start: string, rest: string) => `${start}\n${table}\n${rest}`),
        { ...(await resolveConfig(path)), filepath: path },
      );

      if (process.env['WRITE_TABLES']) writeFileSync(PAGE, expected);
      expect(expected).to.match(BLOCK);
      expect(readFileSync(PAGE, 'utf8')).to.equal(expected);
    });
});
