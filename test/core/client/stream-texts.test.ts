import { expect } from 'chai';
import fc from 'fast-check';
import { retry } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  type Advisor,
  type StreamOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { sweep } from '../../support/sweep.js';

const tool = defineTool({ name: 'look', execute: () => 'warm' });
const look = (text: string): ScriptedAnswer => ({ text, toolCalls: [{ name: 'look' }] });
const broken = (...deltas: readonly string[]): ScriptedAnswer => ({
  deltas,
  error: new Error('down'),
});

/** Asks again after an error, at an order of the chain. */
const again = (order: number): Advisor => ({
  name: `again-${order}`,
  order,
  advise: (request, chain) => chain.next(request).pipe(retry(3)),
});

interface Scene extends StreamOptions {
  readonly advisors?: readonly Advisor[];
}

function stream(answers: readonly ScriptedAnswer[], { advisors, ...options }: Scene = {}) {
  const retries = advisors ?? [again(AdvisorOrder.RESILIENCE)];
  return ChatClient.create(new ScriptedChatModel(answers))
    .prompt('?')
    .tools(tool)
    .advisors(...retries)
    .stream(options);
}

/** The texts that a stream emits, the same in three ways. */
async function texts(answers: readonly ScriptedAnswer[], scene?: Scene): Promise<string[]> {
  const seen: string[][] = [[], [], []];
  for await (const text of stream(answers, scene)) seen[0]?.push(text);
  for await (const text of stream(answers, scene).toReadableStream()) seen[1]?.push(text);
  await new Promise<void>((resolve, reject) =>
    stream(answers, scene)
      .content()
      .subscribe({ next: (text) => seen[2]?.push(text), error: reject, complete: resolve }),
  );
  expect(seen[1]).to.deep.equal(seen[0]);
  expect(seen[2]).to.deep.equal(seen[0]);
  return seen[0] as string[];
}

const text = async (answers: readonly ScriptedAnswer[], scene?: Scene): Promise<string> =>
  (await texts(answers, scene)).join('');

describe('the text of a stream of several iterations', () => {
  it('[D23] has a blank line between them', async () => {
    expect(await texts([look('Let me see.'), 'It is warm.'])).to.deep.equal([
      'Let ',
      'me ',
      'see.',
      '\n\nIt ',
      'is ',
      'warm.',
    ]);
  });

  it('[D23] has no blank line for iterations without text', async () => {
    expect(await text([look(''), look('One.'), look(''), 'Two.', ''])).to.equal('One.\n\nTwo.');
  });

  it('[D23] has a separator of your own, or none', async () => {
    const answers = [look('One.'), 'Two.'];

    expect(await text(answers, { separator: ' | ' })).to.equal('One. | Two.');
    expect(await text(answers, { separator: '' })).to.equal('One.Two.');
  });

  it('[D23] separates a result that is the answer', async () => {
    const direct = defineTool({ name: 'look', returnDirect: true, execute: () => 'warm' });
    const spec = ChatClient.create(new ScriptedChatModel([look('I look.')])).prompt('?');
    let seen = '';

    for await (const piece of spec.tools(direct).stream()) seen += piece;

    expect(seen).to.equal('I look.\n\nwarm');
  });

  it('[D23] rejects invalid options at once', () => {
    const spec = ChatClient.create(new ScriptedChatModel([])).prompt('?');

    for (const options of [{ separator: 1 }, { onRetract: 'erase' }] as readonly object[])
      expect(() => spec.stream(options)).to.throw(InvalidArgumentError, 'stream(…): ');
  });
});

describe('the text of a stream that was retracted', () => {
  const CASES: readonly (readonly [
    what: string,
    attempts: readonly (readonly string[])[],
    expected: string,
  ])[] = [
    [
      'continues where the new one has more',
      [
        ['It ', 'is '],
        ['It ', 'is ', 'warm.'],
      ],
      'It is warm.',
    ],
    ['continues in the middle of a delta', [['It is wa'], ['It ', 'is warm.']], 'It is warm.'],
    [
      'starts a line if nothing is the same',
      [['half a'], ['whole answer']],
      'half a\nwhole answer',
    ],
    ['repeats the word that differs', [['It is cold'], ['It is colorful']], 'It is cold\ncolorful'],
    [
      'repeats a word cut by deltas',
      [['It is cold'], ['It is co', 'lorful']],
      'It is cold\ncolorful',
    ],
    ['stays if the new one is shorter', [['It is warm and'], ['It is warm']], 'It is warm and'],
    ['comes from the only attempt with text', [[], ['It is warm.']], 'It is warm.'],
    ['adds no second line break', [['One\n'], ['Two']], 'One\nTwo'],
    ['breaks no pair of surrogates', [['a 👍 x'], ['a 👎 x']], 'a 👍 x\n👎 x'],
    [
      'is compared with the latest attempt',
      [['It is cold'], ['It is warm '], ['It is warm today.']],
      'It is cold\nwarm today.',
    ],
    [
      'is compared with what was written, if an attempt is shorter',
      [['It is warm'], ['It '], ['It is warm today.']],
      'It is warm today.',
    ],
  ];

  for (const [what, attempts, expected] of CASES)
    it(`[D23] continues: ${what}`, async () => {
      const answers = attempts.map((deltas, at) =>
        at === attempts.length - 1 ? { deltas } : broken(...deltas),
      );

      expect(await text(answers)).to.equal(expected);
    });

  it('[D23] continues in a later iteration, with one separator', async () => {
    const answers = [look('I look.'), broken('It is co'), 'It is warm.'];

    expect(await text(answers)).to.equal('I look.\n\nIt is co\nwarm.');
  });

  it('[D23] continues a turn that was started again', async () => {
    const advisors = [again(AdvisorOrder.GUARD)];
    const answers = [look('I look.'), broken('It is co')];

    expect(await text([...answers, look('I look.'), 'It is cosy.'], { advisors })).to.equal(
      'I look.\n\nIt is cosy.',
    );
    expect(await text([...answers, look('I see.'), 'It is cosy.'], { advisors })).to.equal(
      'I look.\n\nIt is co\nsee.\n\nIt is cosy.',
    );
    expect(await text([...answers, look('I'), 'It is cosy.'], { advisors })).to.equal(
      'I look.\n\nIt is co\n\nIt is cosy.',
    );
  });

  it('[D23] continues in a run that a Promise has started', async () => {
    const answers = [broken('I wo'), look('I look.'), broken('It is co'), 'It is warm.'];
    const source = stream(answers);
    let seen = '';

    const response = await source.finalResponse();
    for await (const piece of source) seen += piece;

    expect(seen).to.equal('I wo\nlook.\n\nIt is co\nwarm.');
    expect(response.text).to.equal('It is warm.');
  });

  const replace = (holdDeltas: boolean): Advisor =>
    defineAdvisor({
      name: 'guard',
      order: AdvisorOrder.GUARD,
      holdDeltas,
      after: () => ChatResponse.ofText('[blocked]'),
    });

  it('[D10] is on a line of its own when a guard replaces it, and not shown with holdDeltas', async () => {
    const answers = ['bad word here'];

    expect(await text(answers, { advisors: [replace(false)] })).to.equal(
      'bad word here\n[blocked]',
    );
    expect(await text(answers, { advisors: [replace(true)] })).to.equal('[blocked]');
    const held = await text(answers, { advisors: [replace(false)], onRetract: 'hold' });
    expect(held).to.equal('[blocked]');
  });

  describe('with onRetract: hold', () => {
    const onRetract = 'hold';

    it('[D23] comes by iterations, without what was retracted', async () => {
      const answers = [broken('I wo'), look('I look.'), broken('It is co'), 'It is warm.'];

      expect(await texts(answers, { onRetract })).to.deep.equal(['I look.', '\n\nIt is warm.']);
    });

    it('[D23] comes before the tools of its iteration run', async () => {
      const events: string[] = [];
      const note = defineTool({ name: 'look', execute: () => void events.push('tool') });
      const model = new ScriptedChatModel([look('I look.'), 'Done.']);
      const spec = ChatClient.create(model).prompt('?').tools(note);

      await new Promise<void>((complete, error) =>
        spec
          .stream({ onRetract })
          .content()
          .subscribe({ next: (piece) => events.push(piece), error, complete }),
      );

      expect(events).to.deep.equal(['I look.', 'tool', '\n\nDone.']);
    });

    it('[D23] comes at the end if an advisor may start the turn again', async () => {
      const advisors = [again(AdvisorOrder.GUARD)];
      const answers = [look('I look.'), broken('It is co'), look('I see.'), 'It is warm.'];

      expect(await texts(answers, { advisors, onRetract })).to.deep.equal([
        'I see.\n\nIt is warm.',
      ]);
    });

    it('[D23] is not shown if its iteration fails', async () => {
      const seen: string[] = [];
      const source = stream([look('I look.'), broken('It is co')], { onRetract, advisors: [] });

      const error = await failureOf(
        (async () => {
          for await (const piece of source) seen.push(piece);
        })(),
      );

      expect(seen).to.deep.equal(['I look.']);
      expect(error).to.have.nested.property('run.partialText', 'It is co');
    });
  });

  describe('with a function', () => {
    it('[D23] has its mark and the new text, whole', async () => {
      const retracted: unknown[] = [];
      const onRetract: StreamOptions['onRetract'] = (event) => {
        retracted.push(event);
        return ' [sorry]\n';
      };
      const answers = [look('I look.'), broken('It is co'), 'It is warm.'];

      expect(await text(answers, { onRetract })).to.equal(
        'I look.\n\nIt is co [sorry]\nIt is warm.',
      );
      expect(retracted[0]).to.deep.equal({ iteration: 1, text: 'It is co' });
    });

    it('[D23] may have no mark, and is not called for nothing', async () => {
      let called = 0;
      const onRetract = (): void => void called++;

      expect(await text([broken(), broken('a '), 'b'], { onRetract })).to.equal('a b');
      expect(called).to.equal(3); // once in each of the three runs
    });

    it('[D23] ends the run if it throws', async () => {
      const failure = new Error('no');
      const onRetract = (): never => {
        throw failure;
      };

      expect(await failureOf(text([broken('a '), 'b'], { onRetract }))).to.equal(failure);
    });
  });
});

describe('the text of random turns', () => {
  const piece = fc.constantFrom('a', 'b', ' ', '\n', 'ab ');
  const attempt = fc.array(piece, { minLength: 1, maxLength: 5 });
  /** Attempts of each iteration, of which the last one succeeds. */
  const turn = fc.array(fc.array(attempt, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  });
  type Attempts = readonly (readonly (readonly string[])[])[];

  const textsOf = (iterations: Attempts): readonly string[] =>
    iterations.map((attempts) => attempts.at(-1)?.join('') ?? '');

  const scriptOf = (iterations: Attempts): readonly ScriptedAnswer[] =>
    iterations.flatMap((attempts, at) => {
      const deltas = attempts.at(-1) ?? [];
      const calls = at < iterations.length - 1 ? { toolCalls: [{ name: 'look' }] } : {};
      return [...attempts.slice(0, -1).map((each) => broken(...each)), { deltas, ...calls }];
    });

  it('[D23] comes from the attempts that count, with hold', async () => {
    const property = fc.asyncProperty(turn, async (iterations) => {
      const seen = await text(scriptOf(iterations), { onRetract: 'hold' });

      expect(seen).to.equal(textsOf(iterations).join('\n\n'));
    });

    await fc.assert(property, { numRuns: sweep(2_000) });
  });

  it('[D23] repeats nothing if each attempt has the beginning of the text', async () => {
    const property = fc.asyncProperty(turn, fc.array(fc.nat(9)), async (iterations, cuts) => {
      const begun = iterations.map((attempts) => {
        const deltas = attempts.at(-1) ?? [];
        return [...cuts.slice(0, 2).map((cut) => deltas.slice(0, cut)), deltas];
      });

      expect(await text(scriptOf(begun))).to.equal(textsOf(iterations).join('\n\n'));
    });

    await fc.assert(property, { numRuns: sweep(2_000) });
  });
});
