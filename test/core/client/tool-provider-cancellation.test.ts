import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { CancelledError, ChatClient, defineAdvisor } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, RUNS } from '../../support/modes.js';
import { settled } from '../../support/promises.js';
import { provider, tool, waiting } from '../../support/providers.js';

for (const [mode, run] of RUNS) {
  describe(`the tool providers of a cancelled ${mode}`, () => {
    it('[F31] do not run if the signal has already aborted or the request is invalid', async () => {
      let asked = 0;
      const counting = provider('counting', () => (asked++, []));
      const client = ChatClient.create(new ScriptedChatModel([]));

      const aborted = await failureOf(
        run(client.prompt('?').tools(counting).signal(AbortSignal.abort())),
      );
      const empty = await failureOf(run(client.prompt().tools(counting)));

      expect([aborted, empty].map((error) => (error as CancelledError).code)).to.deep.equal([
        'cancelled',
        'invalid_argument',
      ]);
      expect(asked).to.equal(0);
    });

    it('[F46] end when the signal aborts, with its reason; no model is called and later results are ignored', async () => {
      const controller = new AbortController();
      const reason = new Error('closed');
      const [overdue, failing] = [waiting('overdue'), waiting('failing')];
      const model = new ScriptedChatModel([]);
      const spec = ChatClient.create(model)
        .prompt('?')
        .tools(overdue.provider, failing.provider)
        .signal(controller.signal);
      const running = failureOf(run(spec));

      controller.abort(reason);

      expect(await running)
        .to.be.instanceOf(CancelledError)
        .with.property('cause', reason);
      expect(
        [...overdue.signals, ...failing.signals].map((signal) => signal.reason as unknown),
      ).to.deep.equal([reason, reason]);
      overdue.answer([tool('a')]);
      failing.fail(new Error('afterwards'));
      await settled();
      expect(model.prompts).to.deep.equal([]);
      expect(getEventListeners(controller.signal, 'abort')).to.have.lengthOf(0);
    });

    it('[F46] do not run after an earlier provider cancelled the run', async () => {
      const controller = new AbortController();
      let asked = 0;
      const cancels = provider('cancels', () => (controller.abort(), []));
      const next = provider('next', () => (asked++, []));
      const model = new ScriptedChatModel([]);

      const error = await failureOf(
        run(ChatClient.create(model).prompt('?').tools(cancels, next).signal(controller.signal)),
      );
      await settled();

      expect(error).to.be.instanceOf(CancelledError);
      expect([asked, model.prompts.length]).to.deep.equal([0, 0]);
    });

    it('[F46] start nothing if the run is cancelled at any time after their result', async () => {
      for (let turns = 0; turns < 20; turns++) {
        const controller = new AbortController();
        const one = waiting('one');
        let begun = 0;
        const counting = defineAdvisor({ name: 'counting', order: 0, before: () => void begun++ });
        const model = new ScriptedChatModel([{ text: 'never', delay: 60_000 }]);
        const spec = ChatClient.create(model)
          .prompt('?')
          .tools(one.provider)
          .advisors(counting)
          .signal(controller.signal);
        const running = failureOf(run(spec));

        one.answer([]);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        const before = begun;
        controller.abort();

        expect(await running).to.be.instanceOf(CancelledError);
        await settled();
        expect(begun, `${turns} microtasks after the answer`).to.equal(before);
      }
    });

    it('keep their signal unchanged after their result', async () => {
      const controller = new AbortController();
      const one = waiting('one');
      one.answer([]);
      const model = new ScriptedChatModel([{ text: 'never', delay: 60_000 }]);
      const running = failureOf(
        run(ChatClient.create(model).prompt('?').tools(one.provider).signal(controller.signal)),
      );
      while (model.prompts.length === 0) await settled();

      controller.abort();
      await running;

      expect(one.signals.map((signal) => signal.aborted)).to.deep.equal([false]);
    });
  });
}

describe('the tool providers of an abandoned stream', () => {
  it('[F46] end when the stream is unsubscribed', async () => {
    const one = waiting('one');
    const model = new ScriptedChatModel([]);
    const events: string[] = [];

    const subscription = ChatClient.create(model)
      .prompt('?')
      .tools(one.provider)
      .stream()
      .events()
      .subscribe({
        next: ({ type }) => events.push(type),
        error: () => events.push('error'),
        complete: () => events.push('complete'),
      });
    expect(one.signals[0]?.aborted).to.equal(false);
    subscription.unsubscribe();

    expect(one.signals[0]?.aborted).to.equal(true);
    one.fail(new Error('afterwards'));
    await settled();
    expect([events, model.prompts]).to.deep.equal([[], []]);
  });

  it('[F46] end when an iteration or a web stream is cancelled', async () => {
    const [iterated, read] = [waiting('iterated'), waiting('read')];
    const client = ChatClient.create(new ScriptedChatModel([]));
    const iterator = client.prompt('?').tools(iterated.provider).stream()[Symbol.asyncIterator]();
    const reader = client.prompt('?').tools(read.provider).stream().toReadableStream().getReader();
    const reads = [iterator.next(), reader.read()];
    await settled();

    await Promise.all([iterator.return?.(), reader.cancel()]);

    expect((await Promise.all(reads)).map(({ done }) => done)).to.deep.equal([true, true]);
    expect([...iterated.signals, ...read.signals].map((signal) => signal.aborted)).to.deep.equal([
      true,
      true,
    ]);
  });
});
