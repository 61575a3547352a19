import { DBOS } from '@dbos-inc/dbos-sdk';
import { expect } from 'chai';
import {
  ChatClient,
  DurableAdvisor,
  DurableTurnError,
  InvalidArgumentError,
} from '../../../src/index.js';
import { DbosTurns, dbosEngine } from '../../../src/engines/dbos/dbos.js';
import { FleetLoad } from '../../support/fleet/fleet-load.js';
import { FleetModelServer } from '../../support/fleet/fleet-model-server.js';
import { questionText, turnIdOf, type FleetQuestion } from '../../support/fleet/fleet-turns.js';
import { WorkerFleet, type FleetWorker } from '../../support/fleet/worker-fleet.js';
import { createPostgresDatabase, type PostgresDatabase } from '../../support/postgres-database.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { SILENT } from '../../support/silent-logger.js';
import { deferred } from '../../support/promises.js';
import { hasServer, POSTGRES } from '../../support/servers.js';

const question = (conversation: string): FleetQuestion => ({ conversation, at: 0 });
const answer = (conversation: string): string => `question 0 of ${conversation}, after 0`;

describe('workers of DbosTurns that end', () => {
  let database: PostgresDatabase;
  let model: FleetModelServer;
  let load: FleetLoad;
  let fleet: WorkerFleet;

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
    model = await FleetModelServer.start(0);
    const config = {
      url: database.url,
      modelURL: model.baseURL,
      workerConcurrency: 5,
      pollInterval: 50,
      poolSize: 5,
      drainTime: 3000,
    };
    load = await FleetLoad.open(config);
    fleet = await WorkerFleet.create(4, config);
  });

  after(async () => {
    await fleet?.stop();
    await load?.close();
    await model?.close();
    await database?.drop();
  });

  const workers = (): readonly FleetWorker[] => fleet.workers;

  it('after SIGTERM lets a running turn end, takes no other, and requeues one that does not end', async () => {
    const [first, second] = workers() as [FleetWorker, FleetWorker];
    const [ending, hanging, waiting] = ['ending', 'hanging', 'waiting'].map(question) as [
      FleetQuestion,
      FleetQuestion,
      FleetQuestion,
    ];
    await first.start();
    for (const each of [ending, hanging]) model.hold(questionText(each));
    await load.start([ending, hanging]);
    await Promise.all([ending, hanging].map((each) => model.asked(questionText(each))));

    const exit = first.end('SIGTERM');
    await first.printed('draining');
    model.release(questionText(ending));
    expect((await load.result(ending)).text).to.equal(answer('ending'));
    await load.start([waiting]);

    expect(await exit).to.equal(0);
    expect(first.lines).to.include(`drained ${turnIdOf(hanging)}`);
    expect(await load.statuses()).to.deep.equal({ SUCCESS: 1, ENQUEUED: 2 });

    await second.start();
    await model.asked(questionText(hanging), 2);
    model.release(questionText(hanging));

    expect((await load.result(hanging)).text).to.equal(answer('hanging'));
    expect((await load.result(waiting)).text).to.equal(answer('waiting'));
    expect((await load.effects()).repeated).to.equal(0);
    await second.end('SIGKILL');
  });

  it('recover lets another worker continue the turns of one that does not come back', async () => {
    const [, , third, fourth] = workers() as [FleetWorker, FleetWorker, FleetWorker, FleetWorker];
    const lost = question('lost');
    await third.start();
    model.hold(questionText(lost));
    await load.start([lost]);
    await model.asked(questionText(lost));
    await third.end('SIGKILL');
    await fourth.start();
    model.release(questionText(lost));

    const recovered = await DbosTurns.recover(third.id);

    expect(recovered).to.deep.equal([turnIdOf(lost)]);
    expect((await load.result(lost)).text).to.equal(answer('lost'));
  });
});

describe('DbosTurns.drain without a queue', () => {
  let database: PostgresDatabase;

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
  });

  after(async () => {
    await DBOS.shutdown({ deregister: true });
    await database?.drop();
  });

  it('starts no turn meanwhile, and a requeued one continues where a process runs turns', async () => {
    let executions = 0;
    const [begun, gate] = [deferred(), deferred<string>()];
    const client = ChatClient.builder(new ScriptedChatModel(() => 'answer'))
      .defaultAdvisors(new DurableAdvisor({ engine: dbosEngine }))
      .build();
    const turns = new DbosTurns({
      name: 'direct',
      run: async (_, { engine }) => {
        executions++;
        begun.resolve();
        return client.prompt(await engine.step('gate', () => gate.promise));
      },
    });
    const launch = (): Promise<void> => {
      DBOS.setConfig({ name: 'direct', systemDatabaseUrl: database.url, logger: SILENT });
      return DBOS.launch();
    };
    await launch();
    const turnId = await turns.start(null);
    await begun.promise;

    const drained = DbosTurns.drain({ timeLimit: 0 });
    const refused: unknown = await turns.start(null).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(DurableTurnError);
    expect((await drained).requeued).to.deep.equal([turnId]);
    await launch();
    gate.resolve('question');

    expect((await turns.result(turnId)).text).to.equal('answer');
    expect(executions).to.equal(2);
  });

  it('refuses a time limit that is none', async () => {
    const refused: unknown = await DbosTurns.drain({ timeLimit: -1 }).catch(
      (error: unknown) => error,
    );

    expect(refused).to.be.instanceOf(InvalidArgumentError);
  });
});
