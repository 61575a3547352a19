/** The forms of the AI SDK, beside the types of its versions 6 and 7. Compiled, not executed. */
import type * as ai6 from 'ai';
import type * as ai7 from 'ai7';
import { z } from 'zod';
import type {
  InferUIDataParts,
  InferUITools,
  UIMessageChunk,
  UIMessageMetadata,
} from '../../src/bridges/ui/index.js';
import { defineTool } from '../../src/index.js';
import { fromModelMessages, toModelMessages } from '../../src/models/ai-sdk/index.js';

declare const chunk: UIMessageChunk;
chunk satisfies ai6.UIMessageChunk;
chunk satisfies ai7.UIMessageChunk;
declare const stream: ReadableStream<UIMessageChunk>;
stream satisfies ReadableStream<ai6.UIMessageChunk>;
stream satisfies ReadableStream<ai7.UIMessageChunk>;

// typed messages of a page, from the tools of the server
const tools = [
  defineTool({
    name: 'locate',
    input: z.object({ precise: z.boolean().default(false) }),
    output: z.object({ city: z.string() }),
  }),
  defineTool({ name: 'count', execute: () => 7 }),
];
type Parts = InferUIDataParts<'tool-approval'>;
type Tools = InferUITools<typeof tools>;
declare const message6: ai6.UIMessage<UIMessageMetadata, Parts, Tools>;
declare const message7: ai7.UIMessage<UIMessageMetadata, Parts, Tools>;
for (const part of [...message6.parts, ...message7.parts]) {
  if (part.type === 'tool-locate' && part.state === 'input-available')
    part.input.precise satisfies boolean;
  if (part.type === 'tool-locate' && part.state === 'output-available')
    part.output.city satisfies string;
  if (part.type === 'tool-count' && part.state === 'output-available') part.output satisfies number;
  if (part.type === 'data-retract') part.data.steps satisfies number;
  if (part.type === 'data-tool-approval') part.data.state satisfies string;
  // @ts-expect-error there is no such tool
  if (part.type === 'tool-other') break;
}
message6.metadata?.pausedTurn satisfies string | undefined;
// messages of both versions go in, and what comes out is a message of both
declare const messages6: ai6.ModelMessage[];
declare const messages7: ai7.ModelMessage[];
const converted = toModelMessages(fromModelMessages(messages6));
converted satisfies ai6.ModelMessage[];
converted satisfies ai7.ModelMessage[];
toModelMessages(fromModelMessages(messages7));
// @ts-expect-error a message needs a role
fromModelMessages([{ content: 'Hi.' }]);
