import { expect } from 'chai';
import { FleetLoad, questionsOf } from '../support/fleet/fleet-load.js';
import { FleetModelServer } from '../support/fleet/fleet-model-server.js';
import { WorkerFleet } from '../support/fleet/worker-fleet.js';
import { createPostgresDatabase, type PostgresDatabase } from '../support/postgres-database.js';
import { Random } from '../support/random.js';
import { hasServer, POSTGRES } from '../support/servers.js';

const SEED = 22;
const [CONVERSATIONS, EACH, WORKERS, KILLS] = [12, 10, 3, 6];

describe('turns on a queue whose workers are killed', () => {
  let database: PostgresDatabase;
  let model: FleetModelServer;
  let load: FleetLoad;
  let fleet: WorkerFleet;

  before(async function () {
    await hasServer(this, POSTGRES);
    database = await createPostgresDatabase();
    model = await FleetModelServer.start(30);
    const config = {
      url: database.url,
      modelURL: model.baseURL,
      workerConcurrency: 6,
      pollInterval: 50,
      poolSize: 5,
    };
    load = await FleetLoad.open(config);
    fleet = await WorkerFleet.start(WORKERS, config);
  });

  after(async () => {
    await fleet?.stop();
    await load?.close();
    await model?.close();
    await database?.drop();
  });

  it('each turn has one answer, each conversation has each turn once and in order', async () => {
    const random = new Random(SEED);
    const questions = questionsOf(CONVERSATIONS, EACH);
    await load.start(questions);

    for (let kill = 1; kill <= KILLS; kill++) {
      await load.untilFinished((questions.length * kill) / (KILLS + 2));
      const worker = random.pick(fleet.workers);
      await worker.end('SIGKILL');
      await worker.start();
    }
    await load.untilFinished(questions.length);

    expect(await load.problems(questions)).to.deep.equal([]);
    // a call of the model or the tool that was under way at a kill is repeated, others are not
    const underWay = KILLS * 6;
    expect(model.repeated + (await load.effects()).repeated).to.be.at.most(underWay);
  });
});
