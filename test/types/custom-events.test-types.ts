/** Events of an application, typed by declaration merging. Compiled, not executed. */
import {
  ChatClient,
  defineAdvisor,
  defineTool,
  type ChatEvent,
  type ChatModel,
  type CustomEvent,
  type CustomEvents,
} from '../../src/index.js';

declare module '../../src/index.js' {
  interface CustomEvents {
    'test.note': { readonly text: string };
    'test.sources': readonly string[];
  }
}

({ type: 'custom', name: 'test.note', data: { text: 'hi' } }) satisfies ChatEvent;
// @ts-expect-error the data has the type of its name
({ type: 'custom', name: 'test.note', data: { text: 1 } }) satisfies ChatEvent;
// @ts-expect-error the name is not declared
({ type: 'custom', name: 'test.other', data: {} }) satisfies ChatEvent;

'test.sources' satisfies keyof CustomEvents;
declare const model: ChatModel;
for await (const event of ChatClient.create(model).prompt('?').stream().events()) {
  if (event.type !== 'custom') continue;
  event satisfies CustomEvent;
  if (event.name === 'test.sources') event.data satisfies readonly string[];
  // @ts-expect-error the data of the other events is not there
  else event.data.length;
}

defineAdvisor({
  name: 'a',
  order: 0,
  around: (request, next, chain) => {
    chain.emit({ type: 'custom', name: 'test.sources', data: ['a'] });
    // @ts-expect-error the data has the type of its name
    chain.emit({ type: 'custom', name: 'test.sources', data: 'a' });
    // @ts-expect-error only events of its own
    chain.emit({ type: 'text-delta', text: 'a' });
    return next(request);
  },
});
defineAdvisor({
  name: 'b',
  order: 0,
  onEvent: (event) => [{ type: 'custom', name: 'test.note', data: { text: event.type } }, event],
});
defineTool({
  name: 't',
  execute: (_args, { emit }) => {
    emit({ type: 'custom', name: 'test.note', data: { text: 'hi' } });
    // @ts-expect-error the name is not declared
    emit({ type: 'custom', name: 'test.other', data: {} });
  },
});
