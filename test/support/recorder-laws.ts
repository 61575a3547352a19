import assert from 'node:assert/strict';
import type { PendingRequest } from '../../src/core/chat/paused-turn.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import {
  jsonStep,
  type CallableModel,
  type ModelCallSite,
  type RunRecorder,
  type StepCodec,
} from '../../src/core/chat/run-recorder.js';
import { Cancellation } from '../../src/core/internal/cancellation.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { ModelCallError, Prompt, ToolError } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf } from './modes.js';
import type { Law } from './recorder-contract.js';

const NUMBER: StepCodec<number> = {
  encode: (value) => ({ value }),
  decode: (recorded) => (recorded as { readonly value: number }).value,
  isEnd: (error) => error instanceof ToolError,
};
const QUESTION: PendingRequest = {
  type: 'question',
  id: 'q',
  toolName: 'ask',
  callId: 'c',
  prompt: 'Which?',
  schema: { type: 'string' },
};
const TEXTS = ['one, busy', 'two'];
export const HELLO = new Prompt([{ role: 'user', content: 'Hello' }]);
const wait = () => ({ place: 'tool ask c', timeout: 50, cancellation: new Cancellation() });
/** A model call of a turn that begins. */
export function callSite(): ModelCallSite {
  const record = new RunRecord(undefined).beginModelCall('chat', 'scripted', 0);
  const isTurnCancelled = (): boolean => false;
  const origins = (): [] => [];
  return { iteration: 0, record, name: 'scripted', isTurnCancelled, prompt: HELLO, origins };
}

export const RECORDER_LAWS: Readonly<Record<string, Law>> = {
  'L1: runs an operation once that has ended with a value, which its caller gets again': async ({
    first,
    last,
    records,
  }) => {
    let runs = 0;
    const work = async (): Promise<number> => ++runs;
    await first(async (recorder) => assert.equal(await recorder.step('count', work, NUMBER), 1));
    const value = await last((recorder) => recorder.step('count', work, NUMBER));
    assert.deepEqual([value, runs], records ? [1, 1] : [2, 2]);
  },

  'L1: runs an operation once that has ended with an error, which its caller gets again': async ({
    first,
    last,
    records,
  }) => {
    let runs = 0;
    const fails = (): Promise<number> => Promise.reject(new ToolError(`no ${++runs}`));
    const step = (recorder: RunRecorder): Promise<unknown> =>
      failureOf(recorder.step('fails', fails, NUMBER));
    let live: unknown;
    await first(async (recorder) => (live = await step(recorder)));
    let again: unknown;
    await last(async (recorder) => ((again = await step(recorder)), null));
    for (const error of [live, again]) assert.ok(error instanceof ToolError);
    assert.equal((again as ToolError).message, records ? 'no 1' : 'no 2');
  },

  'L2: names a step by its place, in whatever order the places are reached': async ({
    first,
    last,
    records,
  }) => {
    const namesOf = async (recorder: RunRecorder, places: readonly string[]) => {
      const names: Record<string, string | undefined> = {};
      for (const place of places) {
        const work = (name: string | undefined): Promise<number> => {
          names[place] = name;
          return Promise.reject(new Error('done again'));
        };
        await failureOf(recorder.step(place, work, NUMBER));
      }
      return names;
    };
    let before: unknown;
    let after: Record<string, string | undefined> = {};
    await first(async (recorder) => (before = await namesOf(recorder, ['a', 'b', 'c'])));
    await last(async (recorder) => {
      after = await namesOf(recorder, ['c', 'a', 'new', 'b']);
      return null;
    });
    const { new: added, ...same } = after;
    assert.deepEqual(same, before);
    assert.equal(new Set([...Object.values(same), added]).size, records ? 4 : 1);
  },

  'L2: gives repetitions of a place names of their own': async ({ last, records }) => {
    const names = new Set<string | undefined>();
    const work = async (name: string | undefined): Promise<number> => names.add(name).size;
    const step = (recorder: RunRecorder): Promise<number> => recorder.step('same', work, NUMBER);
    await last(async (recorder) => [await step(recorder), await step(recorder)]);
    assert.equal(names.size, records ? 2 : 1);
  },

  'L3, L4: records nothing of an operation that fails otherwise: it runs again': async ({
    first,
    last,
  }) => {
    const error = new RangeError('no value');
    let failure: unknown;
    await first(async (recorder) => {
      failure = await failureOf(recorder.step('work', () => Promise.reject<number>(error), NUMBER));
    });
    const value = await last((recorder) => recorder.step('work', async () => 7, NUMBER));
    assert.equal(failure, error);
    assert.equal(value, 7);
  },

  'L3: runs an operation again that was running when the execution ended': async ({
    first,
    last,
  }) => {
    await first(async (recorder) => {
      void recorder.step('work', () => new Promise<number>(() => undefined), NUMBER);
    });
    assert.equal(await last((recorder) => recorder.step('work', async () => 7, NUMBER)), 7);
  },

  'L5: has not failed if an operation has': async ({ last }) => {
    const isLost = await last(async (recorder) => {
      const fails = () => recorder.step('work', () => Promise.reject(new Error('no')), NUMBER);
      await failureOf(fails());
      return recorder.isLost;
    });
    assert.equal(isLost, false);
  },

  'L7: does not ask for a recorded answer, and marks its call': async ({
    first,
    last,
    records,
  }) => {
    const model = new ScriptedChatModel(['one', 'two']);
    const ask = (recorder: RunRecorder, site: ModelCallSite) =>
      recorder.model(model, site).call(site.prompt, new Cancellation());
    await first(async (recorder) => assert.equal((await ask(recorder, callSite())).text, 'one'));
    const site = callSite();
    const text = await last(async (recorder) => (await ask(recorder, site)).text);
    assert.equal(text, records ? 'one' : 'two');
    assert.equal(site.record.isReplayed, records ? true : undefined);
    assert.equal(model.prompts.length, records ? 1 : 2);
  },

  'L7: emits the texts of recorded streams again, also of one that has failed': async ({
    first,
    last,
  }) => {
    const error = new ModelCallError('busy', { status: 503, retryable: true });
    const answers = [{ text: 'one', error }, 'two'];
    const model = new ScriptedChatModel([...answers, ...answers]);
    const stream = (source: CallableModel): Promise<string> =>
      new Promise((resolve) => {
        let text = '';
        source.stream(HELLO, new Cancellation()).subscribe({
          next: (event) => (text += event.type === 'text-delta' ? event.text : ''),
          error: (failure: Error) => resolve(`${text}, ${failure.message}`),
          complete: () => resolve(text),
        });
      });
    const both = async (recorder: RunRecorder): Promise<string[]> => [
      await stream(recorder.model(model, callSite())),
      await stream(recorder.model(model, callSite())),
    ];
    await first(async (recorder) => assert.deepEqual(await both(recorder), TEXTS));
    assert.deepEqual(await last(both), TEXTS);
  },

  'has one secret for all executions, and none within the call that it is for': async ({
    first,
    last,
    records,
  }) => {
    let before: string | undefined;
    await first(async (recorder) => (before = await recorder.secret()));
    const after = await last(async (recorder) => (await recorder.secret({})) ?? null);
    assert.equal(after, records ? before : null);
    assert.equal(typeof before, records ? 'string' : 'undefined');
  },

  'sleeps once': async ({ first, last, records }) => {
    await first((recorder) => recorder.sleep('wait 0', 20));
    const start = performance.now();
    await last((recorder) => recorder.sleep('wait 0', records ? 3_600_000 : 20).then(() => null));
    assert.ok(performance.now() - start < 1_800_000);
  },

  'waits for a decision in its own way': async ({ last, waits }) => {
    const failure = await last(async (recorder) => {
      const error = await failureOf(recorder.waitFor(QUESTION, wait()));
      return error === undefined ? null : (error as { readonly code: string }).code;
    });
    const codes = { 'for a value': null, 'by a pause': 'turn_paused', never: 'chain' } as const;
    assert.equal(failure, codes[waits]);
  },

  'keeps values that are JSON': async ({ first, last, records }) => {
    const value = { text: 'é', list: [1, null, { deep: true }] };
    await first((recorder) => recorder.step('value', async () => value, jsonStep()));
    const again = await last((recorder) =>
      recorder.step<JsonValue>('value', async () => 'other', jsonStep()),
    );
    assert.deepEqual(again, records ? value : 'other');
  },
};
