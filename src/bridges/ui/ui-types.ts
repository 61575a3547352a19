import type { CustomEvents } from '../../core/chat/chat-event.js';
import type { OfferedTool } from '../../core/chat/tool-definition.js';
import type { InferToolInput, InferToolOutput } from '../../core/tool/tool.js';

/**
 * The third parameter of `UIMessage` of `ai`, from the tools of a client. A page imports the type of the tools alone.
 *
 * @example type Message = UIMessage<UIMessageMetadata, InferUIDataParts<'progress'>, InferUITools<typeof tools>>
 */
export type InferUITools<Tools extends readonly OfferedTool[]> = {
  [Each in Tools[number] as Each['definition']['name']]: {
    input: InferToolInput<Each>;
    output: InferToolOutput<Each>;
  };
};

/** The second parameter of `UIMessage` of `ai`: the custom events that the page gets, and what was taken back. */
export type InferUIDataParts<Names extends keyof CustomEvents = never> = {
  [Name in Names]: CustomEvents[Name];
} & { retract: { steps: number } };
