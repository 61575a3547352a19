/** The forms of the AI SDK, beside the types of its versions 6 and 7. Compiled, not executed. */
import type * as ai6 from 'ai';
import type * as ai7 from 'ai7';
import type { UIMessageChunk } from '../../src/bridges/ui/index.js';

declare const chunk: UIMessageChunk;
chunk satisfies ai6.UIMessageChunk;
chunk satisfies ai7.UIMessageChunk;
declare const stream: ReadableStream<UIMessageChunk>;
stream satisfies ReadableStream<ai6.UIMessageChunk>;
stream satisfies ReadableStream<ai7.UIMessageChunk>;
