import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { chooseModel, type ChosenModel } from '../../src/cli/choose-model.js';
import { Terminal } from '../../src/cli/terminal.js';

const folder = mkdtempSync(join(tmpdir(), 'choose-model-'));

async function choose(
  wanted: string | undefined,
  env: Record<string, string> = {},
): Promise<ChosenModel & { readonly err: string }> {
  let err = '';
  const errors = { write: (text: string) => void (err += text) };
  const input = new PassThrough();
  const { signal } = new AbortController();
  const chosen = await chooseModel(
    wanted,
    new Terminal({ input, output: errors, errors, env, cwd: folder, signal }),
  );
  return { ...chosen, err };
}

async function failure(wanted: string): Promise<Error> {
  return await choose(wanted).then(
    () => expect.fail('it has not failed'),
    (error: unknown) => error as Error,
  );
}

describe('chooseModel', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('takes the wire, the name and the key of a provider', async () => {
    const wires = [
      ['openai:gpt-5-mini', 'OPENAI_API_KEY', 'OpenAIChatModel'],
      ['openai-responses:gpt-5', 'OPENAI_API_KEY', 'OpenAIResponsesModel'],
      ['anthropic:claude-x', 'ANTHROPIC_API_KEY', 'AnthropicChatModel'],
      ['google:gemini-x', 'GEMINI_API_KEY', 'GoogleChatModel'],
      ['cohere:command-x', 'CO_API_KEY', 'CohereChatModel'],
      ['ollama:qwen3:4b', 'UNUSED', 'OllamaChatModel'],
    ] as const;
    for (const [name, key, type] of wires) {
      const { model, err, ...chosen } = await choose(name, { [key]: 'secret' });

      expect(chosen).to.deep.equal({ name, isOffline: false });
      expect(model.constructor.name).to.equal(type);
      expect(model.defaultOptions.model).to.equal(name.slice(name.indexOf(':') + 1));
      expect(err).to.equal('');
    }
  });

  it('has a model for a provider that is named alone', async () => {
    const { name } = await choose('anthropic', { ANTHROPIC_API_KEY: 'secret' });

    expect(name).to.match(/^anthropic:claude-/);
  });

  it('is the offline model without the key, and a note names the variable', async () => {
    const { model, err, ...chosen } = await choose('google:gemini-x');

    expect(chosen).to.deep.equal({ name: 'offline', isOffline: true });
    expect(model.defaultOptions.model).to.equal('offline');
    expect(err).to.equal(
      'GOOGLE_API_KEY or GEMINI_API_KEY is not set: the offline model answers in place of google:gemini-x.\n',
    );
  });

  it('is the first provider with a key without a name, else the offline model', async () => {
    expect((await choose(undefined, { COHERE_API_KEY: 'secret' })).name).to.match(/^cohere:/);
    expect(await choose(undefined)).to.include({ isOffline: true });
    expect((await choose(undefined)).err).to.match(/^No key of a provider is set/);
    expect((await choose('offline')).err).to.equal('');
  });

  it('takes a provider of the AI SDK from the project of the user', async () => {
    const home = join(folder, 'node_modules/@ai-sdk/some-lab');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(
      join(home, 'index.js'),
      `const model = (modelId) => ({ specificationVersion: 'v3', provider: 'lab', modelId, supportedUrls: {}, doGenerate() {}, doStream() {} });
      export const createLab = () => lab;
      export const lab = Object.assign(model, { languageModel: model });`,
    );

    for (const wanted of ['some-lab:m-1', '@ai-sdk/some-lab:m-1']) {
      const { model, name } = await choose(wanted);

      expect(name).to.equal(wanted);
      expect(model.constructor.name).to.equal('AiSdkChatModel');
      expect(model.defaultOptions.model).to.equal('m-1');
    }
  });

  it('names the package that is not installed, and the form of a name', async () => {
    const missing = await failure('groq:llama');
    expect(missing.name).to.equal('InvalidArgumentError');
    expect(missing.message).to.include('npm install @ai-sdk/groq').and.include('openai, ');

    for (const wanted of ['gpt-5', ':x', 'ollama', 'ollama:']) {
      const { name, message } = await failure(wanted);
      expect([name, message]).to.deep.equal([
        'UsageError',
        '--model is written as provider:model, such as openai:gpt-5-mini',
      ]);
    }
  });
});
