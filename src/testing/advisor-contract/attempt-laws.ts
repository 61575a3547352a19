import assert from 'node:assert/strict';
import { pairProblem } from '../../core/advisor/invariants.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import { checkDeltas, responseOf } from './answer-laws.js';
import { attempts, historiesWithTools, RETRACTED } from './scenarios.js';
import { inBothModes, inEveryCase, type Laws } from './trial.js';

const ERROR = Object.freeze(new Error('an attempt failed'));

/** Law 9: what is shown, whatever was tried again; and the messages of requests. */
export const ATTEMPT_LAWS: Laws = {
  'emits deltas that add up, whatever was tried again, replaced or raced [law 9]': inEveryCase(
    async (trial) => {
      const outcome = await trial.run();
      if (outcome.failure === ERROR) return;
      responseOf(outcome, trial.title);
      checkDeltas(outcome.events, trial);
    },
    attempts(ERROR),
  ),
  'passes retract on [law 9]': inEveryCase(
    async (trial) => {
      const types = (await trial.run()).events.map(({ type }) => type);
      const first = types.indexOf('reasoning-delta');
      const isVoid = first < 0 || types.indexOf('retract', first) > 0;
      assert.ok(isVoid, `${trial.title}: the deltas before a retract are not retracted`);
    },
    [RETRACTED],
  ),
  'shows no text that it takes back, unless an attempt failed [law 9]': inEveryCase(
    async (trial) => {
      const { events } = await trial.run();
      if (trial.mode === 'call' || !trial.contract.changesAnswer) return;
      const shown = textsTakenBack(events);
      const before = trial.runs.flatMap((run) => textsTakenBack(run.events));
      const own = shown.filter((text) => !before.includes(text));
      const message = `${trial.title}: shows "${own[0]}" and takes it back; set holdDeltas`;
      assert.deepEqual(own, [], message);
    },
  ),
  'sends each tool call with its results [law 9]': inBothModes(async (trial) => {
    for (const messages of historiesWithTools()) {
      const again = trial.again();
      const outcome = await again.run(again.events(again.request('anna', messages)));
      responseOf(outcome, trial.mode);
      for (const { request } of again.runs) {
        const problem = pairProblem(request.prompt);
        const title = `${trial.mode}, ${messages.length} messages`;
        const message = `${title}: ${problem}; keep a call and its results together`;
        assert.equal(problem, undefined, message);
      }
    }
  }),
};

/** The texts that were shown and did not stand. */
function textsTakenBack(events: readonly ChatEvent[]): readonly string[] {
  const texts: string[] = [];
  let text = '';
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text;
    if (!['retract', 'iteration', 'response'].includes(event.type)) continue;
    const answer = 'response' in event ? event.response.text : undefined;
    if (text !== '' && text !== answer) texts.push(text);
    text = '';
  }
  return texts;
}
