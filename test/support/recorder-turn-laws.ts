import assert from 'node:assert/strict';
import { NEVER, type Observable } from 'rxjs';
import { SteeredTurn } from '../../advisors/steering/steered-turn.js';
import { Cancellation, type Cancellable } from '../../src/core/internal/cancellation.js';
import { giveUp, isGivenUp } from '../../src/core/internal/give-up.js';
import type { ModelRun } from '../../src/core/chat/chat-model.js';
import type { RunRecorder } from '../../src/core/chat/run-recorder.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import { recordToolCall } from '../../src/engines/recorder/tool-step.js';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  LoggerAdvisor,
  SteeringInbox,
  textOf,
  type Advisor,
  type ChatEvent,
  type ChatModel,
  type ChatResponse,
  type LogEntry,
  type Prompt,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { callSite, HELLO } from './recorder-laws.js';
import { failureOf, type Mode } from './modes.js';
import { settle, until } from './promises.js';
import type { Law } from './recorder-contract.js';

/** Runs a turn with a recorder. */
const recordedBy = (recorder: RunRecorder): Advisor => ({
  name: 'recording',
  order: AdvisorOrder.TURN,
  role: 'turn-recorder',
  before: ({ run }) => void (run.recorder = recorder),
});
const tools: Advisor = {
  name: 'recorded-tools',
  order: AdvisorOrder.DURABLE,
  adviseToolCall: (call, next) => {
    const run = runOf(call.context);
    return run ? recordToolCall(run, call, next, { onUnknown: 'refuse' }) : next(call);
  },
};

/** A turn of two model calls and a tool call, in an application that shows events and logs. */
class ShownTurn {
  /** Events and logs that were shown, recorded ones in brackets. */
  shown: readonly (readonly string[])[] = [];
  private readonly look = defineTool({ name: 'look', effect: 'write', execute: () => 'seen' });

  constructor(private readonly model: ChatModel) {}

  async run(recorder: RunRecorder): Promise<string> {
    const [events, logs]: [string[], string[]] = [[], []];
    this.shown = [events, logs];
    const info = (entry: LogEntry): void => {
      if (entry.message !== 'chat response') return;
      logs.push(marked(`${entry.iteration}: ${entry.outputTokens ?? 0} tokens`, entry.isReplayed));
    };
    const turn = ChatClient.builder(this.model)
      .defaultTools(this.look)
      .defaultAdvisors(recordedBy(recorder), tools, new LoggerAdvisor({ logger: { info } }))
      .build()
      .prompt('q')
      .turnId('turn')
      .stream();
    for await (const event of turn.events() as AsyncIterable<ChatEvent>)
      if (SHOWN.includes(event.type))
        events.push(marked(event.type, 'isReplayed' in event && event.isReplayed));
    return (await turn.finalResponse()).text ?? '';
  }
}

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const CALL = { toolCalls: [{ id: 'a', name: 'look' }], usage: USAGE };
const DONE = { text: 'done', usage: USAGE };
const SHOWN = ['iteration-start', 'tool-call', 'tool-result'];
const marked = (text: string, isReplayed: boolean | undefined): string =>
  isReplayed ? `(${text})` : text;
/** A turn of which nothing, the first iteration or all is replayed. */
const LIVE_TURN = [
  [...SHOWN, 'iteration-start'],
  ['0: 2 tokens', '1: 2 tokens'],
];
const CONTINUED = [
  [...SHOWN.map((each) => marked(each, true)), 'iteration-start'],
  ['(0: 0 tokens)', '1: 2 tokens'],
];
const REPLAYED = [
  [...SHOWN, 'iteration-start'].map((each) => marked(each, true)),
  ['(0: 0 tokens)', '(1: 0 tokens)'],
];

/** A model that answers a number of calls, and no others. */
class SilentModel implements ChatModel {
  readonly defaultOptions = {};
  asked = 0;
  private readonly scripted: ScriptedChatModel;

  constructor(private readonly answers: readonly ScriptedAnswer[]) {
    this.scripted = new ScriptedChatModel(answers);
  }

  call(prompt: Prompt, run: ModelRun): Promise<ChatResponse> {
    return this.isSilent() ? new Promise(() => undefined) : this.scripted.call(prompt, run);
  }

  stream(prompt: Prompt, run: ModelRun): Observable<ChatEvent> {
    return this.isSilent() ? NEVER : this.scripted.stream(prompt, run);
  }

  private isSilent(): boolean {
    return this.asked++ >= this.answers.length;
  }
}

/** A model call that its owner gives up, and the end of what is recorded of it. */
function abandoned(recorder: RunRecorder, model: SilentModel, mode: Mode) {
  const works: Promise<unknown>[] = [];
  const track = (work: Promise<unknown>): void => void works.push(work);
  const cancellation = new Cancellation();
  const run: ModelRun & Cancellable = Object.assign(cancellation, { track });
  const asked = recorder.model(model, callSite());
  if (mode === 'call') {
    const ended = failureOf(asked.call(HELLO, run));
    const recorded = (): Promise<unknown> => (recorder.isRecording ? ended : settle());
    return { ended, end: () => cancellation.cancel(), recorded };
  }
  let end = (): void => undefined;
  const ended = new Promise<unknown>((resolve) => {
    const subscription = asked.stream(HELLO, run).subscribe({ error: resolve });
    end = () => subscription.unsubscribe();
  });
  return { ended, end, recorded: () => Promise.allSettled(works) };
}

/** A model call that is given up after it has begun. */
const abandonAsked =
  (model: SilentModel, mode: Mode, abandon: (end: () => void) => void) =>
  async (recorder: RunRecorder): Promise<void> => {
    const { end, recorded } = abandoned(recorder, model, mode);
    await until(() => model.asked === 1);
    abandon(end);
    await recorded();
  };

/** Laws of recorders for the advisors and the events of a turn. */
export const TURN_LAWS: Readonly<Record<string, Law>> = {
  'L6: records what comes from outside, also that nothing has come': async ({
    first,
    last,
    records,
  }) => {
    const take = async (recorder: RunRecorder, sent: Readonly<Record<number, string>>) => {
      const inbox = new SteeringInbox();
      const turn = new SteeredTurn(inbox);
      turn.begin();
      const taken: string[] = [];
      for (const iteration of [0, 1, 2]) {
        const text = sent[iteration];
        if (text !== undefined) void inbox.send(text);
        const messages = await turn.recordNext(recorder, iteration);
        taken.push(messages.map(({ message }) => textOf(message.content)).join());
      }
      return taken;
    };
    await first((recorder) => take(recorder, { 1: 'by train' }));

    const taken = await last((recorder) => take(recorder, { 0: 'in euros' }));

    assert.deepEqual(taken, records ? ['', 'by train', ''] : ['in euros', '', '']);
  },

  'L7: shows that a turn is replayed, in its events and its logs': async ({
    first,
    last,
    records,
  }) => {
    const turn = new ShownTurn(new ScriptedChatModel([CALL, DONE, CALL, DONE]));
    await first(async (recorder) => {
      await turn.run(recorder);
      assert.deepEqual(turn.shown, LIVE_TURN);
    });

    const text = await last((recorder) => turn.run(recorder));

    assert.equal(text, 'done');
    assert.deepEqual(turn.shown, records ? REPLAYED : LIVE_TURN);
  },

  'L7: shows what happens now after what is replayed': async ({ first, last, records }) => {
    await first(async (recorder) => {
      const silent = new SilentModel([CALL]);
      void new ShownTurn(silent).run(recorder);
      await until(() => silent.asked === 2);
    });
    const turn = new ShownTurn(new ScriptedChatModel(records ? [DONE] : [CALL, DONE]));

    await last((recorder) => turn.run(recorder));

    assert.deepEqual(turn.shown, records ? CONTINUED : LIVE_TURN);
  },

  ...lawsOfAbandoned('call'),
  ...lawsOfAbandoned('stream'),
};

function lawsOfAbandoned(mode: Mode): Readonly<Record<string, Law>> {
  return {
    [`L9: ends an abandoned ${mode} for the same reason again, at once`]: async ({
      first,
      last,
      records,
    }) => {
      const model = new SilentModel([]);
      await first(abandonAsked(model, mode, (end) => giveUp({ unsubscribe: end }, 'the timer')));

      const isSame = await last(async (recorder) => {
        const { ended } = abandoned(recorder, model, mode);
        return records && isGivenUp(await ended, 'the timer');
      });

      assert.deepEqual([isSame, model.asked], records ? [true, 1] : [false, 2]);
    },

    [`L9: ends a ${mode} for the same reason again that was abandoned before its step had begun`]:
      async ({ first, last, records }) => {
        const model = new SilentModel([]);
        await first(async (recorder) => {
          const { end, recorded } = abandoned(recorder, model, mode);
          giveUp({ unsubscribe: end }, 'the timer');
          await recorded();
        });
        const { asked } = model;

        const isSame = await last(async (recorder) => {
          const { ended } = abandoned(recorder, model, mode);
          return records && isGivenUp(await ended, 'the timer');
        });

        assert.deepEqual([isSame, model.asked], records ? [true, asked] : [false, 2]);
      },

    [`L9: ends an abandoned ${mode} without a reason by what ends it again`]: async ({
      first,
      last,
      records,
    }) => {
      const model = new SilentModel([]);
      await first(abandonAsked(model, mode, (end) => end()));

      const hasEnded = await last(async (recorder) => {
        const { ended, end } = abandoned(recorder, model, mode);
        const before = await Promise.race([ended.then(() => true), settle().then(() => false)]);
        end();
        return before;
      });

      assert.deepEqual([hasEnded, model.asked], [false, records ? 1 : 2]);
    },
  };
}
