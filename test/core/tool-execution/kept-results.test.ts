import { expect } from 'chai';
import { retry, throwError, mergeMap } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  type Advisor,
  type ChatModel,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';

/** Repeats the whole turn until its answer is not "Bad.". */
const retrying: Advisor = {
  name: 'retrying',
  order: AdvisorOrder.TOOL_CALLING - 1,
  advise: (request, chain) =>
    chain.next(request).pipe(
      mergeMap((event) =>
        event.type === 'response' && event.response.text === 'Bad.'
          ? throwError(() => new Error('bad'))
          : [event],
      ),
      retry(2),
    ),
};

const pays = (
  id: string,
  args: Readonly<Record<string, unknown>> = { cents: 5 },
): ScriptedAnswer => ({
  toolCalls: [{ id, name: 'pay', arguments: args }],
});

/** Number of times that a tool ran in a turn that is repeated. */
async function timesPaid(
  mode: Mode,
  answers: readonly (ScriptedAnswer | string)[],
  execute: (times: number) => unknown = () => 'Paid.',
): Promise<{ readonly times: number; readonly results: readonly unknown[] }> {
  let times = 0;
  const input = { type: 'object' } as const;
  const pay: Tool = defineTool({ name: 'pay', input, execute: () => execute(++times) });
  const model = new ScriptedChatModel(answers);
  const spec = ChatClient.create(model as ChatModel)
    .prompt('Go.')
    .tools(pay)
    .advisors(retrying);
  const { steps } = await runSpec(mode, spec);
  const calls = steps.flatMap(({ toolCalls }) => toolCalls);
  return { times, results: calls.map(({ result }) => result?.content) };
}

for (const mode of MODES)
  describe(`a turn that is repeated left of the tool loop (${mode})`, () => {
    it('[D56] gives a call that has succeeded its result', async () => {
      const script = [pays('a'), 'Bad.', pays('a'), 'Bad.', pays('a'), 'Good.'];

      expect(await timesPaid(mode, script)).to.deep.equal({ times: 1, results: ['Paid.'] });
    });

    it('[D56] makes each of several calls with one id once', async () => {
      const script = [pays('a'), pays('a'), 'Bad.', pays('a'), pays('a'), 'Good.'];

      const { times, results } = await timesPaid(mode, script, (time) => `Paid ${time}.`);

      expect(times).to.equal(2);
      expect(results).to.deep.equal(['Paid 1.', 'Paid 2.']);
    });

    it('[D56] makes a call that has failed again', async () => {
      const script = [pays('a'), 'Bad.', pays('a'), 'Good.'];
      const execute = (time: number): string => {
        if (time === 1) throw new Error('offline');
        return 'Paid.';
      };

      expect(await timesPaid(mode, script, execute)).to.have.property('times', 2);
    });

    const others = { 'another id': pays('b'), 'other arguments': pays('a', { cents: 6 }) };
    for (const [what, call] of Object.entries(others))
      it(`[D56] makes a call with ${what}`, async () => {
        const script = [pays('a'), 'Bad.', call, 'Good.'];

        expect(await timesPaid(mode, script)).to.have.property('times', 2);
      });
  });
