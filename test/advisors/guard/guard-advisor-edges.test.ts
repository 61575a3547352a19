import { inspect } from 'node:util';
import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import {
  AdvisorOrder,
  agentTool,
  ChatClient,
  ChatResponse,
  defineAdvisor,
  defineTool,
  GuardAdvisor,
  GuardError,
  InvalidArgumentError,
  ModelCallError,
  toolCallingAutoRegister,
  ToolCallingManager,
  type CheckRule,
  type GuardAdvisorOptions,
  type TextScan,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { literal } from '../../support/literal-rule.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { summary } from '../../support/turn.js';

const SECRET = literal('hunter2', 'password');
const BOMB = literal('bomb');
const redacts = { output: [{ rules: SECRET, action: 'redact' }] } as const;
const judge = (check: (text: string) => boolean | Promise<boolean>): CheckRule => ({
  name: 'judge',
  check: async (text) => ({ flagged: await check(text) }),
});

const clientOf = (script: Script, options: GuardAdvisorOptions, ...tools: readonly Tool[]) =>
  ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(...tools)
    .defaultAdvisors(new GuardAdvisor(options))
    .build();

/** A tool loop of an application, right of the guard. */
const ownLoop = defineAdvisor({
  name: 'own-loop',
  order: AdvisorOrder.LOGGER,
  around: async (request, next, chain) => {
    const answer = await next(request);
    if (!answer.hasToolCalls()) return answer;
    const manager = new ToolCallingManager();
    const { prompt } = await manager.executeToolCalls(request.prompt, answer, chain.tools(request));
    return next(request.with({ prompt, iteration: request.iteration + 1 }));
  },
});

describe('GuardAdvisor at the edges', () => {
  for (const mode of MODES) {
    const ask = (script: Script, options: GuardAdvisorOptions, ...tools: readonly Tool[]) =>
      runSpec(mode, clientOf(script, options, ...tools).prompt('Go.'));

    it(`${mode}: the first finding in the text decides between policies`, async () => {
      const output = [
        { rules: BOMB, action: 'block', answer: 'No bombs.' },
        { rules: SECRET, action: 'block', answer: 'No passwords.' },
      ] as const;

      expect((await ask(['hunter2, bomb'], { output })).text).to.equal('No passwords.');
      expect((await ask(['bomb, hunter2'], { output })).text).to.equal('No bombs.');
    });

    it(`${mode}: asks no judge about an answer that is refused already, nor about a blank one`, async () => {
      const asked: string[] = [];
      const asks = judge((text) => asked.push(text) < 0);
      const output = [{ rules: [BOMB, asks], action: 'block' }] as const;
      await ask(['a bomb'], { output });
      await ask([' '], { output });

      expect(asked).to.deep.equal([]);
    });

    it(`${mode}: a judge gets the text without what is redacted`, async () => {
      const asked: string[] = [];
      const asks = judge((text) => asked.push(text) < 0);
      const both = [
        { rules: SECRET, action: 'redact' },
        { rules: asks, action: 'block' },
      ] as const;
      const client = clientOf(['It is hunter2.'], { input: both, output: both });
      await runSpec(mode, client.prompt('Is it hunter2?'));

      expect(asked).to.deep.equal(['Is it [password]?', 'It is [password].']);
    });

    it(`${mode}: a number or a name in the arguments of a call is found, or not if that is asked for`, async () => {
      const got: unknown[] = [];
      const note = defineTool({ name: 'note', execute: (args) => void got.push(args) });
      const script = (text: string): Script => [
        { toolCalls: [{ name: 'note', arguments: text }] },
        'Done.',
      ];
      const blocks = (toolCalls: boolean) =>
        ({ output: [{ rules: literal('4711'), action: 'block', toolCalls }] }) as const;

      const blocked = await ask(script('{"n":14711}'), blocks(true), note);
      expect([blocked.text, got]).to.deep.equal(['I cannot help with that.', []]);

      await ask(script('{"n":14711}'), blocks(false), note);
      await ask(script('{"hun\\u0074er2":1,"n":2}'), redacts, note);
      expect(got).to.deep.equal([{ n: 14711 }, { n: 2 }]);
    });

    for (const [what, value, shown] of [
      ['JSON', '{"q":"hun\\u0074er2"}', '{"q":"[password]"}'],
      [
        'JSON within JSON',
        '{"q":"{\\"r\\":\\"hun\\\\u0074er2\\"}"}',
        '{"q":"{\\"r\\":\\"[password]\\"}"}',
      ],
      ['a string of JSON', '"hun\\u0074er2"', '"[password]"'],
      ['JSON after other text', 'body: {"q":"hun\\u0074er2"}', 'body: {"q":"[password]"}'],
      ['code', "f('\\u0068unter2', 1)", "f('[password]', 1)"],
    ] as const)
      it(`[D88] ${mode}: an escape in ${what} within an argument hides nothing`, async () => {
        const got: unknown[] = [];
        const note = defineTool({ name: 'note', execute: (args) => void got.push(args) });
        const call = { name: 'note', arguments: { body: value, other: 'a\\u0062c' } };

        await ask([{ toolCalls: [call] }, 'Done.'], redacts, note);

        expect(got).to.deep.equal([{ body: shown, other: 'a\\u0062c' }]);
      });

    it(`${mode}: fields of providers stay, and the metadata of a changed response goes`, async () => {
      const blocks = { content: [{ type: 'text', text: 'It is a text.' }] };
      const message = { role: 'assistant', content: 'It is a text.' } as const;
      const response = new ChatResponse({
        generations: [{ message: { ...message, metadata: { x: blocks } } }],
        metadata: { logprobs: ['a text'] },
      });
      const output = [{ rules: literal('a text', 'word'), action: 'redact' }] as const;
      const answer = await ask([response], { output });

      expect(answer.text).to.equal('It is [word].');
      expect(answer.metadata).to.equal(undefined);
      expect(answer.message.metadata).to.deep.equal({
        x: { content: [{ type: 'text', text: 'It is [word].' }] },
      });
    });

    for (const result of [
      undefined,
      Promise.resolve({ findings: [], settled: 8 }),
      { findings: [{ start: 0, end: NaN, kind: 'x' }], settled: 8 },
      { findings: [], settled: 9_999 },
    ])
      it(`${mode}: a rule whose search returns ${inspect(result)} has failed`, async () => {
        const rules = { name: 'broken', scan: () => result as TextScan };
        const asked = ask(['A answer'], { output: [{ rules, action: 'redact' }] });

        expect(await failureOf(asked))
          .to.be.instanceOf(GuardError)
          .with.property('reason', 'failed');
      });

    it(`${mode}: what only a citation quotes is found`, async () => {
      const citations = [{ url: 'https://a.example/hunter2', title: 'A', text: 'It is hunter2.' }];
      const quotes: Script = [{ text: 'It is known.', citations }];
      const blocked = await ask(quotes, { output: [{ rules: SECRET, action: 'block' }] });
      const spec = clientOf(quotes, redacts).prompt('Go.');
      const events = await lastValueFrom(spec.stream().events().pipe(toArray()));

      expect(blocked.text).to.equal('I cannot help with that.');
      expect((await ask(quotes, redacts)).citations).to.deep.equal([
        { url: 'https://a.example/[password]', title: 'A', text: 'It is [password].' },
      ]);
      expect(events.filter(({ type }) => type === 'citation')).to.deep.equal([
        {
          type: 'citation',
          citation: { url: 'https://a.example/[password]', title: 'A', text: 'It is [password].' },
        },
      ]);
    });

    it(`${mode}: a question before the beginning of an answer is new`, async () => {
      const client = clientOf(['!'], { input: [{ rules: BOMB, action: 'block', answer: 'No.' }] });
      const spec = client
        .prompt()
        .messages({ role: 'user', content: 'bomb' }, { role: 'assistant', content: 'Yes' });

      expect((await runSpec(mode, spec)).text).to.equal('No.');
    });

    it(`${mode}: the partial text that no judge has seen is removed from an error`, async () => {
      const error = new ModelCallError('broke off', { partialText: 'a bomb' });
      const output = [{ rules: judge(() => true), action: 'block' }] as const;

      expect(await failureOf(ask([error], { output }))).to.equal(error);
      expect(error.partialText).to.equal('');
    });

    it(`${mode}: the calls of a blocked answer cannot be run by hand`, async () => {
      const script = [{ text: 'a bomb', toolCalls: [{ name: 'note' }] }];
      const client = clientOf(script, { output: [{ rules: BOMB, action: 'block' }] });
      const note = defineTool({ name: 'note', execute: () => 'noted' });
      const spec = client.prompt('Go.').tools(note).advisors(toolCallingAutoRegister(false));
      const response = await runSpec(mode, spec);

      expect(response.hasToolCalls()).to.equal(false);
      expect(() => response.tools()).to.throw(InvalidArgumentError);
    });

    it(`${mode}: tools of a loop of an application do not run before the verdict on the question`, async () => {
      let ran = 0;
      const act = defineTool({ name: 'act', execute: () => void ran++ });
      for (const flagged of [true, false]) {
        const input = [
          { rules: judge(() => settle().then(() => flagged)), action: 'block', answer: 'No.' },
        ] as const;
        const client = clientOf([{ toolCalls: [{ name: 'act' }] }, 'Done.'], {
          input,
          parallel: true,
        });
        const spec = client
          .prompt('Go.')
          .tools(act)
          .advisors(ownLoop, toolCallingAutoRegister(false));
        const { text } = await runSpec(mode, spec);

        expect([text, ran]).to.deep.equal(flagged ? ['No.', 0] : ['Done.', 1]);
      }
    });

    it(`${mode}: a turn within a tainted turn is tainted, too`, async () => {
      const runs: unknown[] = [];
      const page = defineTool({ name: 'page', effect: 'read', execute: () => 'a page' });
      const send = defineTool({ name: 'send', execute: (args) => void runs.push(args) });
      const inner = clientOf(
        [{ toolCalls: [{ name: 'send' }] }, 'No.'],
        { untrusted: ['x'] },
        send,
      );
      const agent = agentTool(inner, { name: 'agent', description: 'Asks an agent.' });
      const call = { name: 'agent', arguments: { message: 'Send it.' } };
      await ask(
        [{ toolCalls: [{ name: 'page' }] }, { toolCalls: [call] }, 'Ok.'],
        { untrusted: ['page'], approve: () => true },
        page,
        agent,
      );

      expect(runs).to.deep.equal([]);
    });
  }

  for (const rules of [[SECRET], [SECRET, judge(() => settle().then(() => false))]])
    it(`guards each iteration of a loop of an application (${rules.length} rules)`, async () => {
      const note = defineTool({ name: 'note', execute: () => 'noted' });
      const client = clientOf(
        [{ text: 'I note hunter2.', toolCalls: [{ name: 'note' }] }, 'It was hunter2.'],
        {
          output: [
            { rules: SECRET, action: 'redact' },
            { rules, action: 'warn' },
            ...(rules.length > 1
              ? [{ rules: rules[1] as CheckRule, action: 'block' as const }]
              : []),
          ],
        },
      );
      const spec = client
        .prompt('Go.')
        .tools(note)
        .advisors(ownLoop, toolCallingAutoRegister(false));
      const events = await lastValueFrom(spec.stream().events().pipe(toArray()));

      const texts = summary(events).filter((event) =>
        /^(text-delta|iteration|response)/.test(event),
      );
      expect(texts.join('|')).not.to.include('hunter2');
      expect(events.some(({ type }) => type === 'retract')).to.equal(false);
      expect(texts.at(-1)).to.equal('response It was [password].');
      expect(texts.join('').replaceAll('text-delta ', '')).to.match(
        /^I note \[password\]\.iteration 0 noteIt was \[password\]\.response/,
      );
    });

  it('shows no placeholder of an answer that is blocked at once', async () => {
    const client = clientOf([{ text: 'A bomb now.', deltas: ['A bomb now.'] }], {
      output: [{ rules: BOMB, action: 'block', answer: 'No.' }],
    });
    const events = await lastValueFrom(client.prompt('Go.').stream().events().pipe(toArray()));

    const shown = summary(events).filter((event) => /^(text-delta|retract)/.test(event));
    expect(shown).to.deep.equal(['text-delta No.']);
  });

  it("'after' retracts the arguments of a call that it changes", async () => {
    const note = defineTool({ name: 'note', execute: () => 'noted' });
    const call = { name: 'note', arguments: { text: 'hunter2' } };
    const client = clientOf(
      [{ toolCalls: [call] }, 'Done.'],
      { ...redacts, release: 'after' },
      note,
    );
    const events = await lastValueFrom(client.prompt('Go.').stream().events().pipe(toArray()));

    const calls = events.flatMap((event) => {
      if (event.type === 'tool-call-delta') return event.arguments;
      return event.type === 'retract' ? 'retract' : [];
    });
    expect(calls.join('')).to.equal('{"text":"hunter2"}retract{"text":"[password]"}');
  });

  it('cancels the other judges when one fails', async () => {
    let aborted = false;
    const waits: CheckRule = {
      name: 'waits',
      check: (_text, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        return new Promise(() => undefined);
      },
    };
    const fails = judge(() => Promise.reject(new Error('down')));
    const input = [{ rules: [waits, fails], action: 'block' }] as const;
    await failureOf(clientOf([], { input }).prompt('Go.').call().content());
    await settle();

    expect(aborted).to.equal(true);
  });

  it('a rule that passes texts it cannot judge does not pass a turn that was cancelled', async () => {
    const controller = new AbortController();
    const rules: CheckRule = {
      name: 'judge',
      check: () => {
        controller.abort();
        return new Promise(() => undefined);
      },
    };
    const model = new ScriptedChatModel(['Hi.']);
    const guard = new GuardAdvisor({ input: [{ rules, action: 'block', onFailure: 'open' }] });
    const spec = ChatClient.create(model).prompt('Go.').advisors(guard).signal(controller.signal);

    expect(await failureOf(spec.call().content())).to.have.property('code', 'cancelled');
    expect(model.prompts).to.have.length(0);
  });
});
