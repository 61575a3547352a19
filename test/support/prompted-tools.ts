import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  PromptedToolsModel,
  textOf,
  type ChatOptions,
  type PromptedToolsModelOptions,
  type Prompt,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';

export const FORMATS = ['json', 'tagged', 'react'] as const;
export type Format = (typeof FORMATS)[number];

/** A call as a model writes it in a format. */
export function planOf(format: Format, name: string, args: object): string {
  const json = JSON.stringify(args);
  const call = JSON.stringify({ name, arguments: args });
  return {
    json: `{"tool_calls":[${call}]}`,
    tagged: `<tool_call>\n${call}\n</tool_call>`,
    react: `Action: ${name}\nAction Input: ${json}`,
  }[format];
}

/** A scripted model without tool calling behind a client with one tool, which records its calls. */
export function setUpPrompted(
  script: Script,
  options: Partial<PromptedToolsModelOptions> = {},
  defaults: ChatOptions = { model: 'plain' },
) {
  const ran: unknown[] = [];
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number() }),
    execute: (args) => {
      ran.push(args);
      return { sum: args.a + args.b };
    },
  });
  const plain = new ScriptedChatModel(script, defaults);
  const model = new PromptedToolsModel({ model: plain, ...options });
  const client = ChatClient.builder(model).defaultTools(add).build();
  return { add, ran, plain, model, client };
}

/** The texts of a prompt, by message. */
export function textsOf(prompt: Prompt | undefined): readonly string[] {
  return (prompt?.messages ?? []).map((message) => textOf(message));
}
