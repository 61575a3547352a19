import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ToolError,
  toolCallingAutoRegister,
  ToolCallingManager,
  toolResult,
  ToolSearchAdvisor,
  withToolNames,
  Prompt,
  PromptedToolsModel,
  type Advisor,
  type KeyValueStore,
  type Tool,
} from '../../../src/index.js';
import { OffloadedResults } from '../../../advisors/compaction/offloaded-results.js';
import { ScriptedChatModel, type Script, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import {
  idIn,
  linesOf,
  offeredIn,
  offloading,
  OVER,
  resultsOf,
  returning,
} from '../../support/offloading.js';
import { planOf } from '../../support/prompted-tools.js';
import { runTurn } from '../../support/turn.js';

const LONG = linesOf(500);
const long = returning('logs', LONG);
const calling = (name: string, args: Readonly<Record<string, unknown>> = {}): ScriptedAnswer => ({
  toolCalls: [{ name, arguments: args }],
});
/** Calls the tool, reads its result with the arguments, and answers. */
const reading =
  (args: Readonly<Record<string, unknown>>, tool = 'read_result'): Script =>
  (prompt, index) => {
    if (index === 0) return calling('logs');
    if (index === 1) return calling(tool, { id: idIn(resultsOf(prompt)[0]), ...args });
    return 'Done.';
  };

describe('offloaded results', () => {
  const store = new InMemoryKeyValueStore();
  for (const [options, message] of [
    [undefined, 'offload must be a plain object, not undefined'],
    [{}, 'offload.store must be a KeyValueStore, not undefined'],
    [{ store: { get: 1 } }, 'offload.store must be a KeyValueStore'],
    [{ store, over: 1_999 }, 'offload.over must be an integer >= 2000, not 1999'],
    [{ store, ttl: 0 }, 'offload.ttl must be'],
    [{ store, toolName: 'read result' }, 'offload.toolName must be 1 to 64 letters'],
  ] as const)
    it(`reject options: ${message}`, () => {
      expect(() => new OffloadedResults('CompactionAdvisor', options as never)).to.throw(
        InvalidArgumentError,
        `CompactionAdvisor: ${message}`,
      );
    });

  for (const mode of MODES) {
    it(`[F32] keep their beginning and end in sight, and the rest out of the request (${mode}) (deer-flow#1677, zeph#1352)`, async () => {
      const { advisor } = offloading();
      const model = new ScriptedChatModel([calling('logs'), 'Done.']);

      const { events } = await runTurn(mode, model, { tools: [long], advisors: [advisor] });

      const [content] = resultsOf(model.prompts[1]) as [string];
      expect(content.length).to.be.lessThan(OVER);
      expect(content.startsWith(LONG.slice(0, 99))).to.equal(true);
      expect(content.endsWith(LONG.slice(-99))).to.equal(true);
      expect(content).to.include(`of ${LONG.length} are left out here, and kept: call read_result`);
      const result = events.find(({ type }) => type === 'tool-result');
      expect(result).to.have.nested.property('result.value', LONG);
      const event = events.find(({ type }) => type === 'custom');
      expect(event).to.deep.include({ type: 'custom', name: 'result-offloaded' });
      expect(event).to.have.nested.property('data.length', LONG.length);
      expect(event).to.have.nested.property('data.id', idIn(content));
    });

    it(`are read from an offset (${mode}) (QwenPaw#5925, OpenHands#12369)`, async () => {
      const { advisor } = offloading();
      const model = new ScriptedChatModel(reading({ offset: 20_000, length: 300 }));

      await runTurn(mode, model, { tools: [long], advisors: [advisor] });

      const [, read] = resultsOf(model.prompts[2]) as [string, string];
      expect(read).to.equal(
        `Characters 20000 to 20300 of ${LONG.length}; continue with offset 20300.\n${LONG.slice(20_000, 20_300)}`,
      );
    });

    it(`are searched (${mode}) (ProbOS#1239)`, async () => {
      const { advisor } = offloading();
      const model = new ScriptedChatModel(reading({ search: '321: ABC' }));

      await runTurn(mode, model, { tools: [long], advisors: [advisor] });

      const [, found] = resultsOf(model.prompts[2]) as [string, string];
      expect(found).to.equal(
        `Places with "321: ABC": 1; there are no more.\nline 321, offset 32000: ${LONG.split('\n')[320]}`,
      );
    });
  }

  it('[pulse-agent#850] offer the tool as soon as, and not before, there is something to read', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel([calling('short'), calling('logs'), 'Done.']);
    const tools = [returning('short', 'ok'), long];

    await runTurn('call', model, { tools, advisors: [advisor] });

    expect(model.prompts.map(offeredIn)).to.deep.equal([
      ['short', 'logs'],
      ['short', 'logs'],
      ['short', 'logs', 'read_result'],
    ]);
  });

  it('[rockbot#467] do not offload again what is read', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((prompt, index) => {
      const offset = Number(
        /offset (\d+)/.exec((resultsOf(prompt).at(-1) as string | undefined) ?? '')?.[1] ?? 0,
      );
      if (index === 0) return calling('logs');
      return index < 5
        ? calling('read_result', { id: idIn(resultsOf(prompt)[0]), offset })
        : 'Done.';
    });

    await runTurn('call', model, { tools: [long], advisors: [advisor] });

    const read = resultsOf(model.prompts.at(-1)).slice(1) as readonly string[];
    const text = read.map((each) => each.slice(each.indexOf('\n') + 1)).join('');
    expect(LONG.startsWith(text)).to.equal(true);
    for (const each of read) expect(each.length).to.be.within(OVER / 2, OVER);
  });

  it('[zeph#1882] are found by an id that the model writes with words around it', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((prompt, index) => {
      if (index === 0) return calling('logs');
      if (index > 1) return 'Done.';
      return calling('read_result', {
        id: `id: "${idIn(resultsOf(prompt)[0])}"`,
        length: 99,
      });
    });

    await runTurn('call', model, { tools: [long], advisors: [advisor] });

    expect(resultsOf(model.prompts[2])[1]).to.include(LONG.slice(0, 98));
  });

  it('[zeph#1358] lose nothing between two limits: all above the limit is kept whole', async () => {
    const { advisor } = offloading();
    for (const length of [OVER, OVER + 1, 250_000]) {
      const text = 'x'.repeat(length);
      const model = new ScriptedChatModel(reading({ offset: length - 10 }));

      await runTurn('call', model, { tools: [returning('logs', text)], advisors: [advisor] });

      const [content, end] = resultsOf(model.prompts.at(-1));
      if (length === OVER) expect(content).to.equal(text);
      else
        expect(end).to.include(`${length - 10} to ${length} of ${length}; this is the end.\nxxx`);
    }
  });

  it('of parallel calls are kept apart', async () => {
    const { advisor } = offloading();
    const tools = ['a', 'b', 'c'].map((name) => returning(name, `${name} `.repeat(3_000)));
    const model = new ScriptedChatModel((prompt, index) => {
      if (index === 0) return { toolCalls: tools.map(({ definition: { name } }) => ({ name })) };
      if (index > 1) return 'Done.';
      const ids = resultsOf(prompt).map(idIn);
      return {
        toolCalls: ids.map((id) => ({
          name: 'read_result',
          arguments: { id, offset: 3_000, length: 10 },
        })),
      };
    });

    await runTurn('call', model, { tools, advisors: [advisor] });

    const read = resultsOf(model.prompts[2]).slice(3) as readonly string[];
    expect(read.map((each) => each.split('\n')[1])).to.deep.equal([
      'a a a a a ',
      'b b b b b ',
      'c c c c c ',
    ]);
  });

  it('are no direct results: the answer of a turn is whole', async () => {
    const { advisor } = offloading();

    const { response } = await runTurn('call', [calling('logs')], {
      tools: [returning('logs', LONG, { returnDirect: true })],
      advisors: [advisor],
    });

    expect(response.text).to.equal(LONG);
  });

  it('stay errors if they are; what a tool throws is not offloaded', async () => {
    const { advisor } = offloading();
    const failing = returning('logs', toolResult({ content: LONG, isError: true }));
    const throwing: Tool = {
      ...failing,
      name: 'throws',
      definition: { ...failing.definition, name: 'throws' },
      call: () => {
        throw new ToolError(LONG);
      },
    };
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'logs' }, { name: 'throws' }] },
      'Done.',
    ]);

    await runTurn('call', model, { tools: [failing, throwing], advisors: [advisor] });

    const messages = model.prompts[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(
      messages.map((message) => [
        message.role === 'tool' && message.isError,
        idIn(message.role === 'tool' ? message.content : '') !== '',
      ]),
    ).to.deep.equal([
      [true, true],
      [true, false],
    ]);
  });

  it('are no lists of found tools, which a model that gets other names reads', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel([calling('logs'), 'Done.']);
    const tool = { ...long, metadata: { findsTools: true } };

    await runTurn('call', model, { tools: [tool], advisors: [advisor] });

    expect(resultsOf(model.prompts[1])).to.deep.equal([LONG]);
  });

  it('are not found by a text that is no id', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((_, index) => {
      if (index === 0) return calling('logs');
      return index === 1 ? calling('read_result', { id: 'the logs' }) : 'Done.';
    });

    await runTurn('call', model, { tools: [long], advisors: [advisor] });

    expect(resultsOf(model.prompts[2])[1]).to.include('No result with the id "the logs"');
  });

  it('of parts keep their media', async () => {
    const { advisor } = offloading();
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;
    const content = [
      image,
      { type: 'text', text: LONG },
      image,
      { type: 'text', text: 'the end' },
    ] as const;
    const model = new ScriptedChatModel([calling('logs'), 'Done.']);

    await runTurn('call', model, {
      tools: [returning('logs', toolResult({ content }))],
      advisors: [advisor],
    });

    const [parts] = resultsOf(model.prompts[1]) as unknown as [readonly unknown[]];
    expect(parts).to.have.length(3);
    expect([parts[0], parts[2]]).to.deep.equal([image, image]);
    expect(parts[1])
      .to.have.property('text')
      .that.matches(/abc\n\[Characters [^]*the end$/);
  });

  it('[F32] are cut between characters', async () => {
    const { advisor } = offloading();
    const value = { text: '😀'.repeat(4_000) };
    const model = new ScriptedChatModel(reading({ offset: 1_002, length: 101 }));

    await runTurn('call', model, { tools: [returning('logs', value)], advisors: [advisor] });

    for (const content of resultsOf(model.prompts[2]))
      expect(isWellFormed(content as string)).to.equal(true);
  });

  it('keep their offsets if they have characters that a store does not take', async () => {
    const { advisor } = offloading();
    const text = `a\0b\ud800c${'x'.repeat(5_000)}end`;
    const model = new ScriptedChatModel(reading({ search: 'end' }));

    await runTurn('call', model, { tools: [returning('logs', text)], advisors: [advisor] });

    expect(resultsOf(model.prompts[2])[1]).to.include('offset 5005');
  });

  it('that are JSON are read on to the end', async () => {
    const { advisor } = offloading();
    const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const model = new ScriptedChatModel(reading({ search: '"row 1234"' }));

    await runTurn('call', model, { tools: [returning('logs', rows)], advisors: [advisor] });

    const [, found] = resultsOf(model.prompts[2]) as [string, string];
    expect(found).to.include('line 1, offset ').and.include('{"id":1234,"name":"row 1234"}');
  });

  it('whose time is over, or whose id is wrong, are an error with the next step', async () => {
    const store = new InMemoryKeyValueStore();
    const { advisor } = offloading({ store: { ...methodsOf(store), get: async () => undefined } });
    const model = new ScriptedChatModel(reading({}));

    await runTurn('call', model, { tools: [long], advisors: [advisor] });

    const last = model.prompts[2]?.messages.at(-1);
    expect(last).to.include({ role: 'tool', isError: true });
    expect(last).to.have.property('content').that.includes('call the tool that made it again');
  });

  it('have a lifetime', async () => {
    const ttls: unknown[] = [];
    const store = new InMemoryKeyValueStore();
    const recording: KeyValueStore = {
      ...methodsOf(store),
      set: (key, value, options) => {
        ttls.push(options?.ttl);
        return store.set(key, value, options);
      },
    };
    for (const ttl of [undefined, 5_000])
      await runTurn('call', [calling('logs'), 'Done.'], {
        tools: [long],
        advisors: [offloading({ store: recording, ttl }).advisor],
      });

    expect(ttls).to.deep.equal([86_400_000, 5_000]);
  });

  it('stay in the conversation if the store fails, and an event has the error', async () => {
    const error = new Error('disk full');
    const store = { ...methodsOf(new InMemoryKeyValueStore()), set: () => Promise.reject(error) };
    const { advisor } = offloading({ store });
    const model = new ScriptedChatModel([calling('logs'), 'Done.']);

    const { events } = await runTurn('call', model, { tools: [long], advisors: [advisor] });

    expect(resultsOf(model.prompts[1])).to.deep.equal([LONG]);
    expect(events.find(({ type }) => type === 'custom')).to.have.nested.property(
      'data.error',
      error,
    );
    expect(offeredIn(model.prompts[1])).to.deep.equal(['logs']);
  });

  it('of a cancelled turn are not stored', async () => {
    const store = new InMemoryKeyValueStore();
    let writes = 0;
    const counting = { ...methodsOf(store), set: () => Promise.resolve(++writes > 0) };
    const controller = new AbortController();
    const cancelling = {
      ...long,
      call: () => {
        controller.abort();
        return LONG;
      },
    };

    const error = await failureOf(
      runTurn('call', [calling('logs'), 'Done.'], {
        tools: [cancelling],
        advisors: [offloading({ store: counting }).advisor],
        signal: controller.signal,
      }),
    );

    expect(error).to.have.property('code', 'cancelled');
    expect(writes).to.equal(0);
  });

  for (const [name, other] of [
    ['another conversation', 'bob'],
    ['no conversation', undefined],
  ] as const)
    it(`cannot be read in ${name}`, async () => {
      const { advisor } = offloading();
      let id = '';
      const script: Script = (prompt, index) => {
        if (index === 0) return calling('logs');
        id ||= idIn(resultsOf(prompt)[0]);
        return index === 1 ? calling('read_result', { id }) : 'Done.';
      };
      const ask = async (conversation: string | undefined): Promise<Prompt> => {
        const model = new ScriptedChatModel(script);
        const spec = ChatClient.create(model).prompt('Go.').tools(long).advisors(advisor);
        await runSpec(
          'call',
          conversation === undefined
            ? spec
            : spec.advisors((a) => a.param(CONVERSATION_ID, conversation)),
        );
        return model.prompts[2] as Prompt;
      };

      const own = await ask('anna');
      const foreign = await ask(other);

      expect(resultsOf(own)[1]).to.include('Characters 0 to');
      expect(resultsOf(foreign)[1]).to.include(`No result with the id "${id}"`);
    });

  for (const [place, memory] of [
    ['left of the loop', { storeToolMessages: true }],
    ['inside the loop', { order: AdvisorOrder.TOOL_CALLING + 100 }],
  ] as const)
    it(`stay shortened in a memory ${place}, and can be read in a later turn`, async () => {
      const { advisor } = offloading();
      const repository = new InMemoryChatMemoryRepository();
      const chatMemory = new MessageWindowChatMemory({ repository });
      const model = new ScriptedChatModel((prompt, index) => {
        if (index === 0) return calling('logs');
        const id = idIn(resultsOf(prompt)[0]);
        return index === 2 ? calling('read_result', { id, length: 99 }) : 'Done.';
      });
      const client = ChatClient.builder(model)
        .defaultTools(long)
        .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, ...memory }), advisor)
        .build();
      const ask = (text: string): Promise<unknown> =>
        runSpec(
          'call',
          client.prompt(text).advisors((a) => a.param(CONVERSATION_ID, 'anna')),
        );

      await ask('Go.');
      await ask('And line 1?');

      expect(offeredIn(model.prompts[2])).to.include('read_result');
      expect((resultsOf(model.prompts[2])[0] as string).length).to.be.lessThan(OVER);
      expect(resultsOf(model.prompts[3])[1]).to.include('Characters 0 to 99');
    });

  it('of turns at the same time are kept apart, also without a conversation', async () => {
    const { advisor } = offloading();
    const turn = async (at: number): Promise<string | undefined> => {
      const model = new ScriptedChatModel(reading({ search: `turn ${at} ` }));
      const tools = [returning('logs', `turn ${at} `.repeat(1_000))];
      await runTurn(at % 2 === 0 ? 'call' : 'stream', model, { tools, advisors: [advisor] });
      return (resultsOf(model.prompts[2])[1] as string).split(';')[0];
    };

    const found = await Promise.all(Array.from({ length: 20 }, (_, at) => turn(at)));

    expect(found).to.deep.equal(found.map((_, at) => `Places with "turn ${at} ": 6`));
  });

  it('are kept once if an advisor repeats the turn', async () => {
    let writes = 0;
    const store = new InMemoryKeyValueStore();
    const counting: KeyValueStore = {
      ...methodsOf(store),
      set: (key, value, options) => {
        writes++;
        return store.set(key, value, options);
      },
    };
    const again: Advisor = {
      name: 'again',
      order: AdvisorOrder.GUARD,
      around: async (request, next) => {
        await next(request);
        return next(request);
      },
    };
    const { advisor } = offloading({ store: counting });
    const model = new ScriptedChatModel((prompt) =>
      resultsOf(prompt).length === 0 ? { toolCalls: [{ id: 'c', name: 'logs' }] } : 'Done.',
    );

    await runTurn('call', model, { tools: [long], advisors: [again, advisor] });

    expect(writes).to.equal(1);
    expect(resultsOf(model.prompts[3])).to.deep.equal(resultsOf(model.prompts[1]));
  });

  it('are read in a loop of the application', async () => {
    const { advisor } = offloading();
    const manager = new ToolCallingManager();
    const model = new ScriptedChatModel(reading({ search: '321: ' }));
    const client = ChatClient.builder(model)
      .defaultTools(long)
      .defaultAdvisors(advisor, toolCallingAutoRegister(false))
      .build();
    let prompt = new Prompt([{ role: 'user', content: 'Go.' }]);
    for (;;) {
      const response = await runSpec(
        'call',
        client.prompt(prompt).advisors((a) => a.param(CONVERSATION_ID, 'anna')),
      );
      if (!response.hasToolCalls()) break;
      ({ prompt } = await manager.executeToolCalls(prompt, response, response.tools()));
    }

    expect(resultsOf(model.prompts[2])[1]).to.include('line 321, offset 32000');
  });

  it('stay whole in a loop of the application without a conversation, whose next run could not read them', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel([calling('logs')]);
    const spec = ChatClient.create(model).prompt('Go.').tools(long);

    const response = await runSpec('call', spec.advisors(advisor, toolCallingAutoRegister(false)));
    const { messages } = await new ToolCallingManager().executeToolCalls(
      new Prompt([{ role: 'user', content: 'Go.' }]),
      response,
      response.tools(),
    );

    expect(messages.map(({ content }) => content)).to.deep.equal([LONG]);
  });

  it('are offered beside a tool search, which cannot hide the tool', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((prompt, index) => {
      if (index === 0) return calling('toolSearchTool', { query: 'logs' });
      if (index === 1) return calling('logs');
      return index === 2
        ? calling('read_result', { id: idIn(resultsOf(prompt)[1]), length: 99 })
        : 'Done.';
    });

    await runTurn('call', model, {
      tools: [long, returning('other', 'x')],
      advisors: [new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }), advisor],
    });

    expect(offeredIn(model.prompts[2])).to.include.members(['logs', 'read_result']);
    expect(resultsOf(model.prompts[3])[2]).to.include('Characters 0 to 99');
  });

  it('are read where a model gets other names for tools', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((prompt, index) => {
      if (index === 0) return calling('server_logs');
      return index === 1
        ? calling('read_result', { id: idIn(resultsOf(prompt)[0]), length: 99 })
        : 'Done.';
    });
    const tool: Tool = {
      ...long,
      name: 'server.logs',
      definition: { ...long.definition, name: 'server.logs' },
    };

    await runTurn('call', withToolNames(model), { tools: [tool], advisors: [advisor] });

    expect(resultsOf(model.prompts[2])[1]).to.include('Characters 0 to 99');
  });

  it('are read by a model that calls tools by text', async () => {
    const { advisor } = offloading();
    const texts = ({ messages }: Prompt): string => JSON.stringify(messages);
    const plain = new ScriptedChatModel((prompt, index) => {
      if (index === 0) return planOf('json', 'logs', {});
      if (index > 1) return 'Done.';
      return planOf('json', 'read_result', { id: idIn(texts(prompt)), search: '321: ' });
    });

    await runTurn('call', new PromptedToolsModel({ model: plain }), {
      tools: [long],
      advisors: [advisor],
    });

    expect(texts(plain.prompts[2] as Prompt)).to.include('line 321, offset 32000');
  });

  it('refuse a turn with another tool of their name before a model is called', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel(['Done.']);
    const turn = runTurn('call', model, {
      tools: [returning('read_result', 'x')],
      advisors: [advisor],
    });

    const error = await failureOf(turn);

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(error).to.have.property('message').that.includes('set offload.toolName');
    expect(model.prompts).to.have.length(0);
  });

  it('have a tool of another name', async () => {
    const { advisor } = offloading({ toolName: 'read_more' });
    const model = new ScriptedChatModel(reading({ length: 99 }, 'read_more'));

    await runTurn('call', model, {
      tools: [long, returning('read_result', 'x')],
      advisors: [advisor],
    });

    expect(resultsOf(model.prompts[2])[0]).to.include('call read_more with the id');
    expect(resultsOf(model.prompts[2])[1]).to.include('Characters 0 to 99');
  });

  it('are not offered for the last answer of a turn at its limit, which is without tools', async () => {
    const { advisor } = offloading();
    const model = new ScriptedChatModel((_, index) => (index < 2 ? calling('logs') : 'Done.'));

    await runTurn('call', model, {
      tools: [long],
      advisors: [advisor],
      loop: { maxIterations: 2, onLimit: 'answer' },
    });

    expect(model.prompts.map(offeredIn)).to.deep.equal([['logs'], ['logs', 'read_result'], []]);
  });
});

const isWellFormed = (text: string): boolean => !/[\ud800-\udfff]/u.test(text);

function methodsOf(store: KeyValueStore): KeyValueStore {
  return {
    get: (key) => store.get(key),
    set: (key, value, options) => store.set(key, value, options),
    delete: (key, options) => store.delete(key, options),
    add: (key, amounts, options) => store.add(key, amounts, options),
  };
}
