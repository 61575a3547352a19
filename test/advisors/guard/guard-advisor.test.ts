import { expect } from 'chai';
import { z } from 'zod';
import {
  CONVERSATION_ID,
  ChatClient,
  defineTool,
  GuardAdvisor,
  GuardError,
  InMemoryChatMemoryRepository,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  StructuredOutputAdvisor,
  StructuredOutputError,
  toolCallingAutoRegister,
  ToolCallingManager,
  type Advisor,
  type ChatEvent,
  type GuardAdvisorOptions,
  type GuardReport,
  type Message,
  type Prompt,
  type Tool,
} from '../../../src/index.js';
import type { CheckRule, TextRule } from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { literal } from '../../support/literal-rule.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';
import { settle } from '../../support/promises.js';
import { recorder, summary } from '../../support/turn.js';

const SECRET = literal('hunter2', 'password');
const BOMB = literal('bomb');
const check = (name: string, flags: (text: string) => unknown): CheckRule => ({
  name,
  check: async (text) => ({ flagged: (await flags(text)) === true }),
});

interface Setting {
  readonly tools?: readonly Tool[];
  readonly messages?: readonly Message[];
  readonly advisors?: readonly Advisor[];
  readonly question?: string;
}

/** A turn with a memory and a guard; the model answers by a script. */
async function guarded(
  mode: Mode,
  options: GuardAdvisorOptions,
  script: Script,
  { tools = [], messages = [], advisors = [], question = 'Go.' }: Setting = {},
) {
  const repository = new InMemoryChatMemoryRepository();
  const model = new ScriptedChatModel(script);
  const events: ChatEvent[] = [];
  const chatMemory = new MessageWindowChatMemory({ repository });
  const memory = new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true });
  const spec = ChatClient.create(model)
    .prompt()
    .messages(...messages)
    .user(question)
    .tools(...tools)
    .advisors(recorder(events), memory, new GuardAdvisor(options), ...advisors)
    .advisors((a) => a.param(CONVERSATION_ID, 'c'));
  const outcome = await runSpec(mode, spec).then(
    (response) => ({ response, failure: undefined }),
    (failure: unknown) => ({ response: undefined, failure }),
  );
  const stored = (await repository.read('c')).messages.map(({ message }) => message);
  const text = outcome.response?.text;
  return { ...outcome, text, model, events, stored, all: JSON.stringify([events, stored]) };
}

describe('GuardAdvisor', () => {
  for (const [options, message] of [
    [undefined, 'the argument must be a plain object, not undefined'],
    [{}, 'give policies for input, output or toolResults, or names of untrusted tools'],
    [{ input: BOMB }, 'input must be an array of policies { rules, action }, not an object'],
    [{ input: [BOMB] }, "input[0].action must be 'block', 'throw', 'redact', 'mark' or 'warn'"],
    [{ output: [{ action: 'warn', rules: [{}] }] }, 'output[0].rules must be a rule with a name'],
    [
      { input: [{ action: 'warn', rules: { ...BOMB, check: () => ({ flagged: true }) } }] },
      'input[0].rules must be a rule with a name, and a method scan or check',
    ],
    [{ output: [{ action: 'warn', rules: [] }] }, 'output[0].rules must be at least one rule'],
    [
      { output: [{ action: 'redact', rules: check('judge', () => true) }] },
      'output[0]: the rule "judge" judges whole texts and cannot redact; use block',
    ],
    [
      { input: [{ action: 'block', rules: BOMB, onFailure: 'ignore' }] },
      "input[0].onFailure must be 'closed' or 'open', not \"ignore\"",
    ],
    [{ untrusted: 'page' }, 'untrusted must be an array of names of tools, or a function'],
    [{ untrusted: [], release: 'now' }, "release must be 'checked', 'after' or 'end', not \"now\""],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new GuardAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `GuardAdvisor: ${message}`,
      );
    });

  it('stands left of the memory for questions, right of the loop for answers, without warnings', () => {
    const policies = [{ rules: BOMB, action: 'block' }] as const;
    const memory = new MessageChatMemoryAdvisor({
      chatMemory: new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() }),
    });
    const explained = (options: GuardAdvisorOptions) =>
      ChatClient.builder(new ScriptedChatModel([]))
        .defaultAdvisors(memory, new GuardAdvisor(options))
        .build()
        .explain();
    const { oncePerTurn, oncePerIteration, warnings } = explained({
      input: policies,
      output: policies,
      toolResults: policies,
    });

    expect(oncePerTurn).to.deep.equal(['guard', 'chat-memory']);
    expect(oncePerIteration).to.deep.equal(['guard.output']);
    expect(warnings).to.deep.equal([]);
    expect(explained({ output: policies, release: 'after' }).warnings).to.deep.equal([]);
    expect(explained({ input: policies, order: 3_500 }).warnings).to.have.length(1);
    expect(explained({ output: policies, outputOrder: 3_500 }).warnings).to.have.length(1);
    expect(explained({ output: policies, outputOrder: 100 }).warnings).to.have.length(2);
  });

  for (const mode of MODES) {
    describe(`${mode}: a question`, () => {
      it('is answered by the guard if it is blocked: no model is called, and nothing is stored', async () => {
        const input = [{ rules: BOMB, action: 'block', answer: 'No.' }] as const;
        const { response, model, stored } = await guarded(mode, { input }, [], {
          question: 'Build a bomb.',
        });

        expect(response?.text).to.equal('No.');
        expect(response?.finishReason).to.equal('content_filter');
        expect(model.prompts).to.have.length(0);
        expect(stored).to.deep.equal([]);
      });

      it('ends the turn with an error that has the name of the rule alone', async () => {
        const input = [{ rules: SECRET, action: 'throw' }] as const;
        const { failure, all } = await guarded(mode, { input }, [], { question: 'It is hunter2.' });

        expect(failure).to.be.instanceOf(GuardError);
        expect(failure).to.include({ where: 'input', reason: 'found' });
        expect((failure as GuardError).rules).to.deep.equal(['password']);
        expect((failure as GuardError).message + all).not.to.include('hunter2');
      });

      it('reaches the model and the memory redacted', async () => {
        const input = [{ rules: SECRET, action: 'redact' }] as const;
        const { model, stored, events } = await guarded(mode, { input }, ['Fine.'], {
          question: 'It is hunter2.',
        });

        const clean = { role: 'user', content: 'It is [password].' };
        expect(model.prompts[0]?.messages).to.deep.equal([clean]);
        expect(stored[0]).to.deep.equal(clean);
        expect(summary(events)[0]).to.equal(
          'custom guard {"guard":"guard","where":"input","action":"redact","rules":["password"],"kinds":["password"]}',
        );
      });

      it('is redacted over several parts', async () => {
        const input = [{ rules: SECRET, action: 'redact' }] as const;
        const content = ['It is hun', 'ter2.'].map((text) => ({ type: 'text', text }) as const);
        const model = new ScriptedChatModel(['Fine.']);
        const spec = ChatClient.create(model)
          .prompt()
          .messages({ role: 'user', content })
          .advisors(new GuardAdvisor({ input }));
        await runSpec(mode, spec);

        expect(model.prompts[0]?.messages[0]).to.deep.equal({
          role: 'user',
          content: [{ type: 'text', text: 'It is [password].' }],
        });
      });

      it('has marks in its metadata, and warnings as events alone', async () => {
        const input = [
          { rules: SECRET, action: 'mark' },
          { rules: check('length', () => true), action: 'mark' },
          { rules: literal('It'), action: 'warn' },
        ] as const;
        const { stored, events } = await guarded(mode, { input }, ['Fine.'], {
          question: 'It is hunter2.',
        });

        expect(stored[0]).to.deep.equal({
          role: 'user',
          content: 'It is hunter2.',
          metadata: { guard: ['password', 'length'] },
        });
        expect(events.filter(({ type }) => type === 'custom')).to.have.length(3);
      });

      it('complaint of spring-ai#4112: a word in an old message blocks no later turn', async () => {
        const input = [{ rules: BOMB, action: 'block' }] as const;
        const messages: Message[] = [
          { role: 'user', content: 'What is a bomb?' },
          { role: 'assistant', content: 'A bomb explodes.' },
        ];
        const { text } = await guarded(mode, { input }, ['Hi.'], { messages, question: 'Hello.' });

        expect(text).to.equal('Hi.');
      });

      it('complaint: one check for a turn, of its new message alone', async () => {
        const asked: string[] = [];
        const judge = check('judge', (text) => void asked.push(text));
        const messages: Message[] = [
          { role: 'user', content: 'old' },
          { role: 'assistant', content: 'older' },
        ];
        const input = [{ rules: judge, action: 'block' }] as const;
        await guarded(mode, { input }, ['Hi.'], { messages, question: 'new' });

        expect(asked).to.deep.equal(['new']);
      });

      for (const [what, fail] of [
        ['throws', () => Promise.reject(new Error('down'))],
        ['returns no verdict', () => Promise.resolve(undefined as never)],
        ['takes too long', () => new Promise<never>(() => undefined)],
      ] as const) {
        const broken: CheckRule = { name: 'judge', check: fail };

        it(`complaint: fails closed if a rule ${what}`, async () => {
          const input = [{ rules: broken, action: 'block', timeout: 5 }] as const;
          const { failure, model, stored } = await guarded(mode, { input }, ['Hi.']);

          expect(failure).to.be.instanceOf(GuardError);
          expect(failure).to.include({ code: 'guard', where: 'input', reason: 'failed' });
          expect([model.prompts, stored]).to.deep.equal([[], []]);
        });

        it(`passes with an event if a rule ${what}, where that is asked for`, async () => {
          const input = [
            { rules: broken, action: 'block', onFailure: 'open', timeout: 5 },
          ] as const;
          const { text, events } = await guarded(mode, { input }, ['Hi.']);

          expect(text).to.equal('Hi.');
          expect(summary(events)[0]).to.equal(
            'custom guard {"guard":"guard","where":"input","action":"pass","rules":["judge"],"kinds":[]}',
          );
        });
      }

      it('fails closed if a rule for places throws, in a stream too', async () => {
        const rules: TextRule = {
          name: 'broken',
          scan: () => {
            throw new Error('a bug');
          },
        };
        for (const options of [
          { input: [{ rules, action: 'warn' }] },
          { output: [{ rules, action: 'redact' }] },
        ] as const) {
          const { failure, all } = await guarded(mode, options, ['Hi.']);

          expect(failure).to.be.instanceOf(GuardError);
          expect(all).not.to.include('Hi.');
        }
      });
    });

    describe(`${mode}: an answer`, () => {
      it('is shown and stored redacted', async () => {
        const output = [{ rules: SECRET, action: 'redact' }] as const;
        const { text, stored, all } = await guarded(mode, { output }, ['It is hunter2, ok?']);

        expect(text).to.equal('It is [password], ok?');
        expect(stored[1]).to.have.property('content', text);
        expect(all).not.to.include('hunter2');
      });

      for (const release of ['checked', 'end', 'after'] as const)
        it(`is replaced if it is blocked, released ${release}; the memory has the replacement (spring-ai#1081)`, async () => {
          const output = [{ rules: BOMB, action: 'block', answer: 'No.' }] as const;
          const { response, stored, events } = await guarded(mode, { output, release }, [
            'Take a bomb and more words.',
          ]);

          expect(response?.text).to.equal('No.');
          expect(response?.finishReason).to.equal('content_filter');
          expect(stored.at(-1)).to.have.property('content', 'No.');
          const shown = summary(events).filter((event) => /^(text-delta|retract)/.test(event));
          const words = ['text-delta Take ', 'text-delta a '];
          const others = [
            'text-delta bomb ',
            'text-delta and ',
            'text-delta more ',
            'text-delta words.',
          ];
          if (mode === 'call') expect(shown).to.deep.equal([]);
          else if (release === 'end') expect(shown).to.deep.equal(['text-delta No.']);
          else if (release === 'after')
            expect(shown).to.deep.equal([...words, ...others, 'retract 0', 'text-delta No.']);
          else expect(shown.join()).not.to.include('bomb');
        });

      it('ends the turn with an error; nothing is stored', async () => {
        const output = [{ rules: BOMB, action: 'throw' }] as const;
        const { failure, stored, all } = await guarded(mode, { output }, ['A bomb.']);

        expect(failure).to.be.instanceOf(GuardError);
        expect(stored).to.deep.equal([]);
        expect(all).not.to.include('bomb');
      });

      it('complaint of langchain#35011 and defenseclaw#99: shows nothing before the verdict on it', async () => {
        const judge = check('judge', (text) => settle().then(() => text.includes('bomb')));
        const output = [{ rules: judge, action: 'block', answer: 'No.' }] as const;
        const { text, all } = await guarded(mode, { output }, [
          { text: 'A bomb.', reasoning: 'They want a bomb.' },
        ]);

        expect(text).to.equal('No.');
        expect(all).not.to.include('bomb');
      });

      it('is guarded in its reasoning, its refusal, its alternatives and copies of the provider', async () => {
        const output = [{ rules: SECRET, action: 'redact' }] as const;
        const { response, all } = await guarded(mode, { output }, [
          {
            reasoning: 'hunter2 it is',
            text: 'It is hunter2.',
            citations: [{ url: 'https://a.example', text: 'hunter2', start: 6, end: 13 }],
            metadata: { x: { content: [{ type: 'text', text: 'It is hun' }, { text: 'ter2.' }] } },
          },
        ]);
        const refused = await guarded(mode, { output }, [{ refusal: 'Not hunter2.' }]);

        expect(response?.message.reasoning).to.equal('[password] it is');
        expect(response?.citations).to.deep.equal([
          { url: 'https://a.example', text: '[password]' },
        ]);
        expect(JSON.stringify(response?.message.metadata)).to.equal(
          '{"x":{"content":[{"type":"text","text":""},{"text":""}]}}',
        );
        expect(refused.response?.message.refusal).to.equal('Not [password].');
        expect(all + refused.all).not.to.include('hunter2');
      });

      it('is guarded in each iteration, and so are the arguments of its tool calls', async () => {
        const got: unknown[] = [];
        const note = defineTool({ name: 'note', execute: (args) => void got.push(args) });
        const output = [{ rules: SECRET, action: 'redact' }] as const;
        const args = '{"to":"hun\\u0074er2","n":1}';
        const { text, all, response } = await guarded(
          mode,
          { output },
          [{ text: 'I note hunter2.', toolCalls: [{ name: 'note', arguments: args }] }, 'Done.'],
          { tools: [note] },
        );

        expect(got).to.deep.equal([{ to: '[password]', n: 1 }]);
        expect(response?.steps[0]?.response.text).to.equal('I note [password].');
        expect(text).to.equal('Done.');
        expect(all).not.to.match(/hunter2|hun\\\\u0074er2/);
      });

      it('complaint of litellm#40784: a tool call whose pieces are harmless alone is blocked and does not run', async () => {
        const ran: unknown[] = [];
        const note = defineTool({ name: 'note', execute: (args) => void ran.push(args) });
        const output = [{ rules: BOMB, action: 'block', answer: 'No.' }] as const;
        const { text, all } = await guarded(
          mode,
          { output },
          [{ toolCalls: [{ name: 'note', arguments: { text: 'a bomb' } }] }, 'unused'],
          { tools: [note] },
        );

        expect([text, ran]).to.deep.equal(['No.', []]);
        expect(all).not.to.include('a bomb');
      });

      it('may leave addresses in tool calls that the text must not show', async () => {
        const got: unknown[] = [];
        const note = defineTool({ name: 'note', execute: (args) => void got.push(args) });
        const output = [{ rules: SECRET, action: 'redact', toolCalls: false }] as const;
        const call = { name: 'note', arguments: { text: 'hunter2' } };
        const { text } = await guarded(
          mode,
          { output },
          [{ toolCalls: [call] }, 'hunter2 is noted.'],
          { tools: [note] },
        );

        expect([got, text]).to.deep.equal([[{ text: 'hunter2' }], '[password] is noted.']);
      });

      it('is guarded if it is the result of a tool', async () => {
        const look = (content: string) =>
          defineTool({ name: 'look', returnDirect: true, execute: () => content });
        const output = [
          { rules: SECRET, action: 'redact' },
          { rules: BOMB, action: 'block', answer: 'No.' },
        ] as const;
        const script = [{ toolCalls: [{ name: 'look' }] }];
        const redacted = await guarded(mode, { output }, script, { tools: [look('hunter2')] });
        const blocked = await guarded(mode, { output }, script, { tools: [look('a bomb')] });

        expect([redacted.text, blocked.text]).to.deep.equal(['[password]', 'No.']);
        expect(redacted.all + blocked.all).not.to.match(/hunter2|a bomb/);
      });

      it('that does not fit a schema leaves no secret in the error', async () => {
        const schema = z.object({ n: z.number() });
        const spec = ChatClient.create(new ScriptedChatModel(() => '{"n":"hunter2"}'))
          .prompt('Go.')
          .advisors(
            new GuardAdvisor({ output: [{ rules: SECRET, action: 'redact' }] }),
            new StructuredOutputAdvisor({ maxRepeats: 1 }),
          );
        const result = mode === 'call' ? spec.call() : spec.stream();
        const failure = await result.entity(schema).catch((error: unknown) => error);

        expect(failure).to.be.instanceOf(StructuredOutputError);
        const { text, issues, message, earlierAttempts } = failure as StructuredOutputError;
        expect(text).to.equal('{"n":"[password]"}');
        expect(JSON.stringify([issues, message, earlierAttempts])).not.to.include('hunter2');
        expect(earlierAttempts[0]?.text).to.equal(text);
      });

      it('is the guarded one in the report of a run whose tools run by hand', async () => {
        const look = defineTool({ name: 'look', execute: () => 'seen' });
        const model = new ScriptedChatModel([
          { text: 'It is hunter2.', toolCalls: [{ name: 'look' }] },
        ]);
        const spec = ChatClient.create(model)
          .prompt('Go.')
          .tools(look)
          .advisors(new GuardAdvisor({ output: [{ rules: SECRET, action: 'redact' }] }))
          .advisors(toolCallingAutoRegister(false));
        const response = await runSpec(mode, spec);
        await new ToolCallingManager().executeToolCalls(
          model.prompts[0] as Prompt,
          response,
          response.tools(),
        );

        expect(response.steps.map((step) => step.response.text)).to.deep.equal([
          'It is [password].',
        ]);
        expect(JSON.stringify(response.transcript)).not.to.include('hunter2');
      });

      it('is reported to a listener, in calls too', async () => {
        const reports: GuardReport[] = [];
        const output = [{ rules: SECRET, action: 'redact' }] as const;
        const onFinding = (report: GuardReport): void => void reports.push(report);
        await guarded(mode, { output, onFinding }, ['hunter2 or hunter2']);

        expect(reports).to.deep.equal([
          {
            guard: 'guard',
            where: 'output',
            action: 'redact',
            rules: ['password'],
            kinds: ['password'],
          },
        ]);
      });

      it('marks have the kinds in its metadata', async () => {
        const output = [{ rules: [SECRET, check('long', () => true)], action: 'mark' }] as const;
        const { stored } = await guarded(mode, { output }, ['hunter2']);

        expect(stored[1]).to.deep.include({
          content: 'hunter2',
          metadata: { guard: ['password', 'long'] },
        });
      });

      it('that breaks off leaves no secret in its error, nor in the memory', async () => {
        const error = new ModelCallError('broke off', { partialText: 'It is hunter2' });
        const output = [{ rules: SECRET, action: 'redact' }] as const;
        const { failure } = await guarded(mode, { output }, [{ text: 'It is hunter2', error }]);

        expect(failure).to.equal(error);
        expect(error.partialText).to.equal('It is [password]');
      });
    });

    describe(`${mode}: a question judged beside the model`, () => {
      const parallel = { parallel: true } as const;

      it('wins: nothing is shown, no tool runs, nothing is stored, and the model is cancelled', async () => {
        let ran = 0;
        const act = defineTool({ name: 'act', execute: () => void ran++ });
        const judge = check('judge', () => settle().then(() => true));
        const input = [{ rules: judge, action: 'block', answer: 'No.' }] as const;
        const { response, model, stored, events } = await guarded(
          mode,
          { ...parallel, input },
          [{ text: 'Sure!', toolCalls: [{ name: 'act' }] }, 'Done.'],
          { tools: [act] },
        );

        expect(response?.text).to.equal('No.');
        expect(model.prompts).to.have.length(1);
        expect([ran, stored]).to.deep.equal([0, []]);
        expect(JSON.stringify(events)).not.to.include('Sure!');
        expect(response?.ledger).to.have.length(1);
      });

      it('cancels a model that has not answered', async () => {
        const judge = check('judge', () => settle().then(() => true));
        const input = [{ rules: judge, action: 'block', answer: 'No.' }] as const;
        const { response, model } = await guarded(mode, { ...parallel, input }, [
          { text: 'slow', delay: 60_000 },
        ]);

        expect(response?.text).to.equal('No.');
        expect(model.cancelled).to.equal(1);
        expect(response?.ledger.map(({ outcome }) => outcome)).to.deep.equal(['cancelled']);
      });

      it('passes: the model has begun before the verdict', async () => {
        const order: string[] = [];
        const judge = check('judge', async () => {
          await settle();
          order.push('verdict');
        });
        const input = [{ rules: judge, action: 'block' }] as const;
        const { text, stored } = await guarded(mode, { ...parallel, input }, () => {
          order.push('model');
          return 'Hi.';
        });

        expect(order).to.deep.equal(['model', 'verdict']);
        expect(text).to.equal('Hi.');
        expect(stored).to.have.length(2);
      });

      it('wins over an error of the model, and fails closed', async () => {
        const error = new Error('model is down');
        const refuses = check('judge', () => settle().then(() => true));
        const fails = check('judge', () => settle().then(() => Promise.reject(new Error('x'))));
        const run = (rules: CheckRule) =>
          guarded(mode, { ...parallel, input: [{ rules, action: 'block', answer: 'No.' }] }, [
            { error },
          ]);
        const accepted = await run(check('judge', () => settle()));

        expect((await run(refuses)).text).to.equal('No.');
        expect((await run(fails)).failure).to.be.instanceOf(GuardError);
        expect(accepted.failure).to.equal(error);
      });
    });
  }
});
