import { OpenAIChatModel, type OpenAIChatModelOptions } from '../../src/models/openai/index.js';
import { WireServer, type Exchange } from './wire-server.js';

/** A server whose answers a test decides, and models that ask it. */
export interface WireModel {
  readonly server: WireServer;
  /** Answers a request; to be replaced by the test. */
  answer: (exchange: Exchange) => unknown;
  /** A model without retries. */
  readonly model: OpenAIChatModel;
  /** A model with these options. */
  modelWith(options: Partial<OpenAIChatModelOptions>): OpenAIChatModel;
}

/** Starts a server for each test of a suite. */
export function useWireModel(): WireModel {
  let server: WireServer;
  let model: OpenAIChatModel;
  const wire: WireModel = {
    get server() {
      return server;
    },
    get model() {
      return model;
    },
    answer: () => undefined,
    modelWith: (options) =>
      new OpenAIChatModel({
        model: 'm',
        apiKey: 'sk-test',
        baseURL: server.baseURL,
        ...options,
      }),
  };

  beforeEach(async () => {
    wire.answer = () => undefined;
    server = await WireServer.start((exchange) => wire.answer(exchange));
    model = wire.modelWith({ maxRetries: 0 });
  });
  afterEach(() => server.close());
  return wire;
}
