import { expect } from 'chai';
import {
  AdvisorContext,
  ChatClient,
  ContextKey,
  defineAdvisor,
  textOf,
  type Tool,
} from '../../../src/index.js';
import type { ToolProviderRequest } from '../../../src/core/tool/tool-provider.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { settled } from '../../support/promises.js';
import { offered, provider, tool, waiting } from '../../support/providers.js';

const TENANT = new ContextKey<string>('test.tenant', '');

for (const [mode, run] of RUNS) {
  describe(`the tool providers of a ${mode}`, () => {
    it('[CLI-43] run once per run, whatever the number of iterations, and not earlier', async () => {
      let asked = 0;
      const counting = provider('counting', () => [tool(`f${asked++}`)]);
      const model = new ScriptedChatModel(({ messages, options }) =>
        messages.length < 5
          ? { toolCalls: [{ name: options.tools?.[0]?.definition.name as string }] }
          : 'Done.',
      );
      const spec = ChatClient.create(model).prompt('?').tools(counting);
      spec.explain();
      spec.mutate().build();
      expect(asked).to.equal(0);

      expect([await run(spec), await run(spec)]).to.deep.equal(['Done.', 'Done.']);

      expect(asked).to.equal(2);
      expect(offered(model)).to.deep.equal([['f0'], ['f0'], ['f0'], ['f1'], ['f1'], ['f1']]);
    });

    it('[CLI-40] [CLI-44] offer their tools at their position among the others, and the tools run', async () => {
      const ran: string[] = [];
      const named = (name: string): Tool => tool(name, () => void ran.push(name));
      const model = new ScriptedChatModel([
        { toolCalls: [{ name: 'p2' }, { name: 'b' }, { name: 'q' }] },
        'Done.',
        'Done.',
      ]);
      const client = ChatClient.builder(model)
        .defaultTools(
          named('a'),
          provider('P', () => Promise.resolve([named('p1'), [[named('p2')], []]])),
          [named('b')],
        )
        .build();
      const more = provider('Q', () => [named('q')]);

      await run(
        client.prompt('?').tools(
          [more, [named('c')]],
          provider('none', () => []),
        ),
      );
      await run(client.mutate().defaultTools(more).build().prompt('?').tools(named('d')));

      expect(ran.toSorted()).to.deep.equal(['b', 'p2', 'q']);
      expect(offered(model)).to.deep.equal([
        ['a', 'p1', 'p2', 'b', 'q', 'c'],
        ['a', 'p1', 'p2', 'b', 'q', 'c'],
        ['a', 'p1', 'p2', 'b', 'q', 'd'],
      ]);
    });

    it('receive the values of the request, which they cannot change', async () => {
      const asked: ToolProviderRequest[] = [];
      const client = ChatClient.builder(new ScriptedChatModel(['Done.']))
        .defaultTools(provider('P', (request) => (asked.push(request), [])))
        .defaultToolContext({ a: 1, b: 1 })
        .build();

      const spec = client.prompt('?').toolContext({ b: 2 });
      await run(spec.advisors((a) => a.param(TENANT, 'acme')));

      expect(asked).to.have.lengthOf(1);
      expect(asked[0]?.toolContext).to.deep.equal({ a: 1, b: 2 });
      expect(asked[0]?.toolContext).to.be.frozen;
      expect(asked[0]?.context).to.be.instanceOf(AdvisorContext);
      expect(asked[0]?.context.get(TENANT)).to.equal('acme');
    });

    it('run in parallel', async () => {
      const [first, second] = [waiting('first'), waiting('second')];
      const model = new ScriptedChatModel(['Done.']);

      const running = run(
        ChatClient.create(model).prompt('?').tools(first.provider, second.provider),
      );
      expect([first.signals.length, second.signals.length]).to.deep.equal([1, 1]);
      second.answer([tool('b')]);
      await settled();
      expect(model.prompts).to.deep.equal([]);
      first.answer([tool('a')]);

      expect(await running).to.equal('Done.');
      expect(offered(model)).to.deep.equal([['a', 'b']]);
    });

    it('[F76] isolate concurrent requests from each other', async () => {
      const tenant = provider('tenant', async ({ toolContext }) => {
        const own = toolContext['own'] as string;
        for (let turns = Math.random() * 4; turns > 0; turns--) await settled();
        return [tool(own, () => own)];
      });
      const model = new ScriptedChatModel(({ messages, options }) => {
        const [asked, , result] = messages;
        const names = options.tools?.map(({ definition }) => definition.name);
        if (result?.role === 'tool') return `${String(names)} ${textOf(result.content)}`;
        return { toolCalls: [{ name: asked?.role === 'user' ? textOf(asked.content) : '' }] };
      });
      const client = ChatClient.builder(model).defaultTools(tenant).build();
      const owners = Array.from({ length: 200 }, (_, n) => `own_${n}`);

      const answers = await Promise.all(
        owners.map((own) => run(client.prompt(own).toolContext({ own }))),
      );

      expect(answers).to.deep.equal(owners.map((own) => `${own} ${own}`));
    });
  });
}

describe('a run without tool providers', () => {
  it('starts synchronously, and passes the same list of tools', () => {
    const lists = new Set<unknown>();
    const watcher = defineAdvisor({ name: 'watcher', order: 0, onEvent: () => undefined });
    const model = new ScriptedChatModel(() => ({ text: 'never', delay: 60_000 }));
    const spec = ChatClient.create(model)
      .prompt('?')
      .tools(tool('a'), [tool('b')])
      .advisors(watcher, {
        name: 'spy',
        order: 1,
        advise: (request, chain) => (lists.add(request.tools), chain.next(request)),
      });

    const runs = [1, 2, 3].map(() => spec.stream().events().subscribe());
    const { length } = model.prompts;
    for (const subscription of runs) subscription.unsubscribe();

    expect([length, lists.size]).to.deep.equal([3, 1]);
  });
});
