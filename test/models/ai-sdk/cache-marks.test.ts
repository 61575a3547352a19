import { expect } from 'chai';
import { ChatClient, defineTool, PromptCacheAdvisor } from '../../../src/index.js';
import { AiSdkChatModel } from '../../../src/models/ai-sdk/index.js';
import { MODES, runSpec } from '../../support/modes.js';
import { ScriptedLanguageModel, STOP, textParts } from '../../support/scripted-language-model.js';

/** A model that is of a provider. */
class ProviderModel extends ScriptedLanguageModel {
  constructor(
    override readonly provider: string,
    mode: 'call' | 'stream',
  ) {
    super([[...(mode === 'call' ? [{ type: 'text', text: 'fine' }] : textParts('fine')), STOP]]);
  }
}

const look = defineTool({ name: 'look', execute: () => 'something' });
const marks = { tools: '1h', system: '1h', messages: '5m' } as const;

const options = (ttl: '5m' | '1h') => ({
  anthropic: { cacheControl: { type: 'ephemeral', ttl } },
  bedrock: { cachePoint: { type: 'default', ...(ttl === '1h' && { ttl }) } },
});

describe('marks of the prompt cache by the AI SDK', () => {
  for (const mode of MODES) {
    const sent = async (provider: string) => {
      const source = new ProviderModel(provider, mode);
      const client = ChatClient.builder(new AiSdkChatModel({ model: source }))
        .defaultSystem('Be brief.')
        .defaultTools(look)
        .defaultAdvisors(new PromptCacheAdvisor({ marks, minTokens: 0 }))
        .build();
      await runSpec(
        mode,
        client.prompt().messages(
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          {
            role: 'user',
            content: 'And now?',
            metadata: { providerOptions: { anthropic: { other: 1 }, own: { a: 1 } } },
          },
        ),
      );
      const { prompt, tools } = source.requests[0] ?? {};
      return [...(tools as readonly object[]), ...(prompt as readonly object[])].map((each) =>
        Reflect.get(each, 'providerOptions'),
      );
    };

    for (const provider of ['anthropic.messages', 'amazon-bedrock', 'vertex.anthropic.messages'])
      it(`${mode}: are options of the last tool, system text and message for ${provider}`, async () => {
        const last = options('5m');
        const merged = { ...last, anthropic: { ...last.anthropic, other: 1 }, own: { a: 1 } };

        expect(await sent(provider)).to.deep.equal([
          options('1h'),
          options('1h'),
          undefined,
          undefined,
          merged,
        ]);
      });

    it(`${mode}: are not on a tool that the tool search of Anthropic hides, which the API refuses`, async () => {
      const source = new ProviderModel('anthropic.messages', mode);
      const hidden = {
        ...look,
        name: 'b',
        definition: { ...look.definition, name: 'b', deferLoading: true },
      };
      const client = ChatClient.builder(new AiSdkChatModel({ model: source }))
        .defaultTools(look, hidden)
        .defaultOptions({ promptCache: marks })
        .build();

      await runSpec(mode, client.prompt('Hi'));

      const tools = source.requests[0]?.['tools'] as readonly object[];
      expect(tools.map((each) => Reflect.get(each, 'providerOptions'))).to.deep.equal([
        options('1h'),
        { anthropic: { deferLoading: true } },
      ]);
    });

    it(`${mode}: are not sent to a provider that caches by itself`, async () => {
      const own = { anthropic: { other: 1 }, own: { a: 1 } };

      expect(await sent('openai.responses')).to.deep.equal([
        undefined,
        undefined,
        undefined,
        undefined,
        own,
      ]);
    });
  }
});
