// One stream in four ways: an Observable, an async iterable, a web stream, and cancelled by a signal.
import { ChatClient } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const model = new ScriptedChatModel(() => ({
  text: 'The quick brown fox jumps over the lazy dog.',
  delay: 10,
}));
const spec = ChatClient.create(model).prompt('A sentence with all letters, please.');
const stream = spec.stream(); // cold: each way below is a run of its own

await new Promise<void>((resolve, reject) => {
  process.stdout.write('Observable:  ');
  stream
    .content()
    .subscribe({ next: (text) => process.stdout.write(text), error: reject, complete: resolve });
});

process.stdout.write('\nfor await:   ');
for await (const text of stream) {
  process.stdout.write(text);
  if (text.startsWith('fox')) break; // leaving the loop ends the request
}

process.stdout.write('\nweb stream:  ');
process.stdout.write(
  await new Response(stream.toReadableStream().pipeThrough(new TextEncoderStream())).text(),
);

const { steps, text } = await stream.finalResponse(); // of the run above: no other model call
process.stdout.write(`\nthe answer:  ${text} (${steps.length} step)`);

process.stdout.write('\ncancelled:   ');
const stop = new AbortController();
try {
  for await (const text of spec.signal(stop.signal).stream()) {
    process.stdout.write(text);
    if (text.startsWith('fox')) stop.abort(new Error('the stop button was pressed'));
  }
} catch (error) {
  console.log(`… ${String(error)} ${String((error as Error).cause)}`);
}
console.log(
  `The model was asked ${model.prompts.length} times, and ${model.cancelled} answers were cancelled.`,
);
