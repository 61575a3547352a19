import { defineTool, defineToolProvider, type Tool, type ToolProvider } from '../../src/index.js';
import type { ScriptedChatModel } from '../../src/testing/index.js';

export const tool = (name: string, execute: () => unknown = () => 'ok'): Tool =>
  defineTool({ name, execute });

export const provider = (
  name: string,
  tools: ToolProvider['tools'],
  timeout?: number,
): ToolProvider => defineToolProvider({ name, tools, timeout });

/** A provider that settles on demand, and the requests it received. */
export interface Waiting {
  readonly provider: ToolProvider;
  readonly signals: AbortSignal[];
  readonly answer: (tools: readonly Tool[]) => void;
  readonly fail: (error: Error) => void;
}

export function waiting(name: string, timeout?: number): Waiting {
  const signals: AbortSignal[] = [];
  let answer: Waiting['answer'] = () => undefined;
  let fail: Waiting['fail'] = () => undefined;
  const answered = new Promise<readonly Tool[]>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const asked = provider(
    name,
    ({ signal }) => {
      signals.push(signal);
      return answered;
    },
    timeout,
  );
  return { provider: asked, signals, answer, fail };
}

/** The names of the tools that a model was offered, request by request. */
export function offered(model: ScriptedChatModel): readonly (readonly string[] | undefined)[] {
  return model.prompts.map(({ options }) =>
    options.tools?.map(({ definition }) => definition.name),
  );
}
