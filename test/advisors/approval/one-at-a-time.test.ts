import { expect } from 'chai';
import { oneAtATime, type Decision } from '../../../src/index.js';
import { pathOf, Remover, approvalTurn, rm } from '../../support/approval.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred } from '../../support/promises.js';

const ALLOW: Decision = { type: 'allow', by: 'anna' };

for (const mode of MODES)
  describe(`oneAtATime (${mode})`, () => {
    it('asks about the second call of a batch when the first is decided', async () => {
      const [remover, answers] = [new Remover(), [deferred<Decision>(), deferred<Decision>()]];
      const asked: string[] = [];
      const decide = oneAtATime((request) => {
        asked.push(pathOf(request));
        return (answers[asked.length - 1] as (typeof answers)[0]).promise;
      });
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a', 'b'), 'Done.'],
        options: { decide },
      });

      const running = runSpec(mode, spec);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const atFirst = [...asked];
      answers[0]?.resolve(ALLOW);
      answers[1]?.resolve({ type: 'deny', reason: 'Not today.' });
      await running;

      expect(atFirst).to.deep.equal(['a']);
      expect(asked).to.deep.equal(['a', 'b']);
      expect(remover.removed).to.deep.equal(['a']);
    });

    it('asks about the next call after a question that failed', async () => {
      const remover = new Remover();
      const asked: string[] = [];
      const decide = oneAtATime((request) => {
        asked.push(pathOf(request));
        if (asked.length === 1) throw new Error('the terminal is closed');
        return ALLOW;
      });
      const turn = () =>
        approvalTurn({ tools: [remover.tool], answers: [rm('a'), 'Done.'], options: { decide } });

      const failure = await failureOf(runSpec(mode, turn().spec));
      await runSpec(mode, turn().spec);

      expect(failure).to.match(/decide failed for "rm": the terminal is closed/);
      expect(remover.removed).to.deep.equal(['a']);
    });

    it('does not ask a cancelled turn, nor two questions at once, nor waits for one without an answer', async () => {
      const remover = new Remover();
      const [asked, open] = [[] as string[], deferred<Decision>()];
      const decide = oneAtATime((request) => {
        asked.push(pathOf(request));
        return asked.length === 1 ? open.promise : ALLOW;
      });
      const start = (path: string, signal: AbortSignal) => {
        const { spec } = approvalTurn({
          tools: [remover.tool],
          answers: [rm(path), 'Done.'],
          options: { decide },
        });
        return runSpec(mode, spec.signal(signal)).catch((error: unknown) => error);
      };
      const [first, second, third] = [1, 2, 3].map(() => new AbortController());
      const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

      const runs = [start('a', first!.signal), start('b', second!.signal)];
      runs.push(start('c', third!.signal));
      await settled();
      second!.abort();
      await settled();
      const whileOpen = [...asked];
      first!.abort();
      await Promise.all(runs);

      expect(whileOpen).to.deep.equal(['a']);
      expect(asked).to.deep.equal(['a', 'c']);
      expect(remover.removed).to.deep.equal(['c']);
    });
  });

describe('oneAtATime', () => {
  it('refuses what is no function', () => {
    expect(() => oneAtATime(undefined as never)).to.throw(
      'oneAtATime(…): decide must be a function, not undefined',
    );
  });
});
