import { expect } from 'chai';
import {
  AdvisorOrder,
  ChainError,
  ChatClient,
  defineAdvisor,
  defineTool,
  textOf,
  Prompt,
  ToolCallingAdvisor,
  ToolCallingManager,
  toolCallingAutoRegister,
  type Advisor,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import type { Observable } from 'rxjs';
import { z } from 'zod';

const weather = defineTool({ name: 'weather', execute: () => 'sunny' });
const ASKS_THEN_ANSWERS: Script = [{ toolCalls: [{ name: 'weather' }] }, 'It is sunny.'];

/** Counts how often it is passed. */
function counter(order: number): Advisor & { count: number } {
  const advisor = defineAdvisor({
    name: `counter ${order}`,
    order,
    before: () => void counting.count++,
  });
  const counting = Object.assign(advisor, { count: 0 });
  return counting;
}

function texts(source: Observable<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    source.subscribe({
      next: (piece) => (text += piece),
      error: reject,
      complete: () => resolve(text),
    });
  });
}

describe('the tool-calling advisor of a client', () => {
  it('[REG-01] [REG-20] [REG-21] is registered by default; advisors inside it run once per iteration', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
    const outside = counter(AdvisorOrder.MEMORY);
    const inside = counter(AdvisorOrder.LOGGER);

    const text = await ChatClient.create(model)
      .prompt('?')
      .tools(weather)
      .advisors(outside, inside)
      .call()
      .content();

    expect(text).to.equal('It is sunny.');
    expect([outside.count, inside.count, model.prompts.length]).to.deep.equal([1, 2, 2]);
    expect(model.prompts[1]?.messages.at(-1)).to.include({ role: 'tool', content: 'sunny' });
  });

  it('[REG-16] runs several calls of one answer and sends all results to the model', async () => {
    const readings: Readonly<Record<string, string>> = {
      Paris: '15',
      Tokyo: '10',
      'San Francisco': '30',
    };
    const tool = defineTool({
      name: 'weather',
      input: z.object({ city: z.string() }),
      execute: ({ city }) => readings[city],
    });
    const model = new ScriptedChatModel(({ messages }) => {
      const results = messages.flatMap((message) =>
        message.role === 'tool' ? [textOf(message.content)] : [],
      );
      if (results.length > 0) return `Readings: ${results.join(', ')}`;
      return {
        toolCalls: Object.keys(readings).map((city) => ({ name: 'weather', arguments: { city } })),
      };
    });

    expect(await ChatClient.create(model).prompt('?').tools(tool).call().content()).to.equal(
      'Readings: 15, 10, 30',
    );
  });

  it('[REG-13] does the same in a stream', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
    const inside = counter(AdvisorOrder.LOGGER);

    const text = await texts(
      ChatClient.create(model).prompt('?').tools(weather).advisors(inside).stream().content(),
    );

    expect(text).to.equal('It is sunny.');
    expect([inside.count, model.prompts.length]).to.deep.equal([2, 2]);
  });

  it('[REG-02] [REG-22] [REG-25] can be disabled; tools are offered and their calls are returned', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
    const inside = counter(AdvisorOrder.LOGGER);

    const response = await ChatClient.create(model)
      .prompt('?')
      .tools(weather)
      .advisors(inside, toolCallingAutoRegister(false))
      .call()
      .chatResponse();

    expect(response.hasToolCalls()).to.equal(true);
    expect(model.prompts[0]?.options.tools).to.deep.equal([weather]);
    expect([inside.count, model.prompts.length]).to.deep.equal([1, 1]);
  });

  it('[REG-14] can be disabled for streams', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);

    await texts(
      ChatClient.create(model)
        .prompt('?')
        .tools(weather)
        .advisors(toolCallingAutoRegister(false))
        .stream()
        .content(),
    );

    expect(model.prompts).to.have.lengthOf(1);
  });

  it('[CLI-54] can be disabled by default and enabled by a request', async () => {
    const model = new ScriptedChatModel((prompt) =>
      prompt.messages.length === 1 ? { toolCalls: [{ name: 'weather' }] } : 'done',
    );
    const client = ChatClient.builder(model)
      .defaultTools(weather)
      .defaultAdvisors(toolCallingAutoRegister(false))
      .build();

    expect(await client.prompt('?').call().content()).to.equal(null);
    expect(
      await client.prompt('?').advisors(toolCallingAutoRegister(true)).call().content(),
    ).to.equal('done');
    expect(await client.prompt('?').call().content()).to.equal(null);
  });

  it('stays disabled when a client or a spec is mutated (Spring forgets it)', async () => {
    const model = new ScriptedChatModel(() => ({ toolCalls: [{ name: 'weather' }] }));
    const client = ChatClient.builder(model)
      .defaultTools(weather)
      .defaultAdvisors(toolCallingAutoRegister(false))
      .build();

    await client.mutate().build().prompt('?').call().content();
    await client.prompt('?').mutate().build().prompt().call().content();

    expect(model.prompts).to.have.lengthOf(2);
    expect(client.mutate().build().explain().toolLoop).to.equal(undefined);
  });

  it('[REG-09] is not added if one is registered explicitly', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
    const own = new ToolCallingAdvisor({ order: 42 });

    await ChatClient.create(model).prompt('?').tools(weather).advisors(own).call().content();

    expect(model.prompts).to.have.lengthOf(2);
    expect(ChatClient.create(model).prompt('?').advisors(own).explain().toolLoop).to.equal(
      'tool-calling',
    );
  });

  it('[REG-11] rejects a second loop when the client is built or the advisor added, naming both', () => {
    const other: Advisor = {
      name: 'my loop',
      order: 1,
      role: 'tool-loop',
      advise: (request, chain) => chain.next(request),
    };
    const builder = ChatClient.builder(new ScriptedChatModel([])).defaultAdvisors(other);

    expect(() => builder.build().prompt('?').advisors(new ToolCallingAdvisor())).to.throw(
      ChainError,
      'a chain can have one tool loop, this one has 2: "my loop" (order 1), "tool-calling" (order 5000)',
    );
  });

  it('rejects an advisor with its name when the client is built', () => {
    const namesake = defineAdvisor({ name: 'tool-calling', order: 0, before: () => undefined });

    expect(() =>
      ChatClient.builder(new ScriptedChatModel([])).defaultAdvisors(namesake).build(),
    ).to.throw(ChainError, 'two advisors are named "tool-calling"; give one of them another name');
  });

  it('[REG-06] runs tools that an advisor before it adds to the request', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
    const adding = defineAdvisor({
      name: 'adding',
      order: 0,
      before: (request) => request.withTools([weather]),
    });

    expect(await ChatClient.create(model).prompt('?').advisors(adding).call().content()).to.equal(
      'It is sunny.',
    );
    expect(model.prompts).to.have.lengthOf(2);
  });

  it('[REG-08] runs tools from options only', async () => {
    const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);

    expect(
      await ChatClient.create(model)
        .prompt(new Prompt('?', { tools: [weather] }))
        .call()
        .content(),
    ).to.equal('It is sunny.');
  });

  it('[REG-17] [REG-18] [REG-23] leaves the history to a memory inside it', async () => {
    const kept: string[][] = [];
    const memory = defineAdvisor({
      name: 'memory',
      order: AdvisorOrder.TOOL_CALLING + 1,
      role: 'chat-memory',
      before: (request) => void kept.push(request.prompt.messages.map(({ role }) => role)),
    });
    const client = (model: ScriptedChatModel): ChatClient =>
      ChatClient.builder(model).defaultAdvisors(memory).build();

    await client(new ScriptedChatModel(ASKS_THEN_ANSWERS))
      .prompt('?')
      .system('S')
      .tools(weather)
      .call()
      .content();
    await texts(
      client(new ScriptedChatModel(ASKS_THEN_ANSWERS))
        .prompt('?')
        .system('S')
        .tools(weather)
        .stream()
        .content(),
    );

    expect(kept).to.deep.equal([
      ['system', 'user'],
      ['system', 'tool'],
      ['system', 'user'],
      ['system', 'tool'],
    ]);
  });

  it('keeps its own history if a memory is outside, also at its own order', async () => {
    for (const order of [AdvisorOrder.MEMORY, AdvisorOrder.TOOL_CALLING]) {
      const model = new ScriptedChatModel(ASKS_THEN_ANSWERS);
      const memory = defineAdvisor({
        name: 'memory',
        order,
        role: 'chat-memory',
        before: () => undefined,
      });

      await ChatClient.create(model).prompt('?').tools(weather).advisors(memory).call().content();

      expect(model.prompts[1]?.messages.map(({ role }) => role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
      ]);
    }
  });

  it('[REG-19] [REG-24] returns the result of a return-direct tool as the answer, called or streamed', async () => {
    const direct = defineTool({ name: 'weather', returnDirect: true, execute: () => 'raw result' });
    const asking = (): ScriptedChatModel =>
      new ScriptedChatModel([{ toolCalls: [{ name: 'weather' }] }]);

    expect(await ChatClient.create(asking()).prompt('?').tools(direct).call().content()).to.equal(
      'raw result',
    );
    expect(
      await texts(ChatClient.create(asking()).prompt('?').tools(direct).stream().content()),
    ).to.equal('raw result');
  });

  it('[REG-26] can be replaced by a manual loop: check the response, run the calls, continue with their history', async () => {
    const model = new ScriptedChatModel([...(ASKS_THEN_ANSWERS as readonly [never, never])]);
    const client = ChatClient.builder(model)
      .defaultAdvisors(toolCallingAutoRegister(false))
      .build();
    const manager = new ToolCallingManager();

    let prompt = new Prompt('?', { tools: [weather] });
    let response = await client.prompt(prompt).call().chatResponse();
    while (response.hasToolCalls()) {
      ({ prompt } = await manager.executeToolCalls(prompt, response));
      response = await client.prompt(prompt).call().chatResponse();
    }

    expect(response.text).to.equal('It is sunny.');
    expect(prompt.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool']);
  });

  it('[REG-27] passes a limit of the manager to the caller of a manual loop', async () => {
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'weather' }, { name: 'weather' }] },
    ]);
    const client = ChatClient.builder(model)
      .defaultAdvisors(toolCallingAutoRegister(false))
      .build();
    const prompt = new Prompt('?', { tools: [weather] });
    const response = await client.prompt(prompt).call().chatResponse();

    const error = await new ToolCallingManager({ maxCallsPerTool: 1 })
      .executeToolCalls(prompt, response)
      .catch((reason: unknown) => reason);

    expect(error).to.include({
      code: 'limit_exceeded',
      limit: 'calls-per-tool',
      value: 1,
      toolName: 'weather',
    });
  });
});

describe('explain', () => {
  it('lists what runs once per turn and once per iteration, for a client and a request', () => {
    const client = ChatClient.builder(new ScriptedChatModel([]))
      .defaultAdvisors(counter(AdvisorOrder.MEMORY))
      .build();

    expect(client.explain()).to.deep.include({
      oncePerTurn: ['counter 3000'],
      toolLoop: 'tool-calling',
      oncePerIteration: [],
    });
    expect(
      client.prompt('?').advisors(counter(AdvisorOrder.LOGGER)).explain().oncePerIteration,
    ).to.deep.equal(['counter 8000']);
    expect(String(client.prompt('?').advisors(toolCallingAutoRegister(false)).explain())).to.match(
      /once per turn: +counter 3000/,
    );
  });
});
