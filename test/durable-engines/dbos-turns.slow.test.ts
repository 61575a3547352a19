import { DBOS } from '@dbos-inc/dbos-sdk';
import { expect } from 'chai';
import { DbosTurns, dbosEngine } from '../../src/durable-engines/dbos.js';
import { ChatClient, DurableAdvisor, ModelCallError, defineTool } from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { createPostgresDatabase, type PostgresDatabase } from '../support/postgres-database.js';
import { hasServer, POSTGRES } from '../support/servers.js';
import { SILENT } from '../support/silent-logger.js';

const modelError = new ModelCallError('overloaded', { status: 529, retryable: true });

const client = ChatClient.builder(
  new ScriptedChatModel((prompt) => {
    const text = JSON.stringify(prompt.messages);
    if (text.includes('fail')) return modelError;
    if (text.includes('tool_call_id') || text.includes('toolCallId')) return 'It is sunny.';
    return { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: {} }] };
  }),
)
  .defaultTools(
    defineTool({
      name: 'get_weather',
      description: 'The weather.',
      input: { type: 'object' },
      effect: 'read',
      execute: () => 'sunny',
    }),
  )
  .defaultAdvisors(new DurableAdvisor({ engine: dbosEngine }))
  .build();

describe('DbosTurns', () => {
  let database: PostgresDatabase;
  let turns: DbosTurns<string>;
  let approvals: DbosTurns;

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
    turns = new DbosTurns<string>({
      name: 'questions',
      run: (question) => client.prompt(question),
    });
    approvals = new DbosTurns({
      name: 'approvals',
      run: async (_, { engine }) =>
        client.prompt(JSON.stringify([await engine.waitFor('a'), await engine.waitFor('b')])),
    });
    DBOS.setConfig({ name: 'test', systemDatabaseUrl: database.url, logger: SILENT });
    await DBOS.launch();
  });

  after(async () => {
    await DBOS.shutdown({ deregister: true });
    await database?.drop();
  });

  it('answers, and records model and tool calls as steps', async () => {
    const turnId = await turns.start('What is the weather?');

    const { text } = await turns.result(turnId);

    expect(text).to.equal('It is sunny.');
    const steps = (await DBOS.listWorkflowSteps(turnId))?.map(({ name }) => name);
    expect(steps).to.deep.equal(['model 0', 'tool get_weather call_1', 'model 1']);
  });

  it('rejects the result with the typed error of the turn', async () => {
    const turnId = await turns.start('fail');

    const error: unknown = await turns.result(turnId).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error).to.include({ code: 'model_call', status: 529, retryable: true });
  });

  it('gives a turn what was sent before it waited, and while it waits; the first value counts', async () => {
    const turnId = await approvals.start(null);

    await approvals.decide(turnId, 'b', { type: 'deny', reason: 'no' });
    await approvals.decide(turnId, 'b', { type: 'allow' });
    await approvals.decide(turnId, 'a', { type: 'allow' });

    await approvals.result(turnId);
    const steps = await DBOS.listWorkflowSteps(turnId);
    expect(steps?.find(({ name }) => name === 'wait b')?.output).to.include('deny');
  });
});
