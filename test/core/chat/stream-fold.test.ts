import { expect } from 'chai';
import fc from 'fast-check';
import type { ToolCallDelta } from '../../../src/core/chat/chat-event.js';
import { callsOf, type ToolCall } from '../../../src/core/chat/message.js';
import type { ToolCallPiece } from '../../../src/core/chat/open-calls.js';
import { withDistinctIds } from '../../../src/core/chat/open-calls.js';
import { StreamFold } from '../../../src/core/chat/stream-fold.js';
import { canonicalJson, parseJson } from '../../../src/core/internal/json.js';
import { fuzz } from '../../support/fuzz.js';

/** A call and where its arguments are cut. */
interface CutCall {
  readonly call: ToolCall;
  readonly fragments: readonly string[];
}

/** Wire format of a server: the pieces of each call in order, and if calls may interleave. */
interface Dialect {
  readonly pieces: (cut: CutCall, at: number) => readonly ToolCallPiece[];
  readonly interleaved: boolean;
  /** Expected call, if the server does not send all fields. */
  readonly arrives?: (call: ToolCall) => ToolCall;
  /** Two equal calls and a repeated one look the same. */
  readonly mergesEqual?: true;
}

const fragmented =
  (
    piece: (call: ToolCall, at: number, first: boolean, text: string) => ToolCallPiece,
  ): Dialect['pieces'] =>
  ({ call, fragments }, at) =>
    fragments.map((text, n) => ({ ...piece(call, at, n === 0, text), arguments: text }));

const whole =
  (piece: (call: ToolCall, at: number) => ToolCallPiece): Dialect['pieces'] =>
  ({ call }, at) => [{ ...piece(call, at), name: call.name, arguments: call.arguments }];

const withDelayed =
  (
    first: (call: ToolCall) => ToolCallPiece,
    later: (call: ToolCall) => ToolCallPiece,
  ): Dialect['pieces'] =>
  ({ call, fragments }, at) => [
    { index: at, ...first(call) },
    { index: at, ...later(call) },
    ...fragments.map((text) => ({ index: at, arguments: text })),
  ];

const withoutId = (call: ToolCall): ToolCall => ({ ...call, id: '' });
const withId =
  (id: string) =>
  (call: ToolCall): ToolCall => ({ ...call, id });

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'by index, id and name first': {
    pieces: fragmented(({ id, name }, index, first) => (first ? { index, id, name } : { index })),
    interleaved: true,
  },
  'by index, id on each piece': {
    pieces: fragmented(({ id, name }, index, first) => ({ index, id, ...(first && { name }) })),
    interleaved: true,
  },
  'by index, id and name on each piece': {
    pieces: fragmented(({ id, name }, index) => ({ index, id, name })),
    interleaved: true,
  },
  'by index, empty id later': {
    pieces: fragmented(({ id, name }, index, first) => ({
      index,
      id: first ? id : '',
      name: first ? name : '',
    })),
    interleaved: true,
  },
  'by index, "null" as id later': {
    pieces: fragmented(({ id, name }, index, first) => ({
      index,
      id: first ? id : 'null',
      name: first ? name : null,
    })),
    interleaved: true,
  },
  'by index, name delayed': {
    pieces: withDelayed(
      ({ id }) => ({ id }),
      ({ name }) => ({ name }),
    ),
    interleaved: true,
  },
  'by index, id delayed': {
    pieces: withDelayed(
      ({ name }) => ({ name, id: null }),
      ({ id }) => ({ id }),
    ),
    interleaved: true,
  },
  'by index, no ids': {
    pieces: fragmented(({ name }, index, first) => (first ? { index, name, id: '' } : { index })),
    interleaved: true,
    arrives: withoutId,
  },
  'by index, no ids, name on each piece': {
    pieces: fragmented(({ name }, index) => ({ index, name })),
    interleaved: true,
    arrives: withoutId,
  },
  'by index, one id for all': {
    pieces: fragmented(({ name }, index, first) => ({ index, id: 'same', ...(first && { name }) })),
    interleaved: true,
    arrives: withId('same'),
  },
  'all index 0, id on each piece': {
    pieces: fragmented(({ id, name }, _at, first) => ({ index: 0, id, ...(first && { name }) })),
    interleaved: true,
  },
  'all index 0, id and name on each piece': {
    pieces: fragmented(({ id, name }) => ({ index: 0, id, name })),
    interleaved: true,
  },
  'all index 0, id first': {
    pieces: fragmented(({ id, name }, _at, first) =>
      first ? { index: 0, id, name } : { index: 0 },
    ),
    interleaved: false,
  },
  'no index, id on each piece': {
    pieces: fragmented(({ id, name }, _at, first) => ({ id, ...(first && { name }) })),
    interleaved: true,
  },
  'no index, id first': {
    pieces: fragmented(({ id, name }, _at, first) => (first ? { id, name } : {})),
    interleaved: false,
  },
  'no index, id first, "null" later': {
    pieces: fragmented(({ id, name }, _at, first) => (first ? { id, name } : { id: 'null' })),
    interleaved: false,
  },
  'no index, id delayed': {
    pieces: ({ call: { id, name }, fragments }) => [
      { name },
      { id },
      ...fragments.map((text) => ({ arguments: text })),
    ],
    interleaved: false,
  },
  'no index, no ids': {
    pieces: fragmented(({ name }, _at, first) => (first ? { index: null, name } : {})),
    interleaved: false,
    arrives: withoutId,
  },
  'whole calls by index': { pieces: whole(({ id }, index) => ({ index, id })), interleaved: true },
  'whole calls, all index 0': { pieces: whole(({ id }) => ({ index: 0, id })), interleaved: true },
  'whole calls, all index 0, no ids': {
    pieces: whole(() => ({ index: 0, id: '' })),
    interleaved: true,
    arrives: withoutId,
  },
  'whole calls, all index 0, one id for all': {
    pieces: whole(() => ({ index: 0, id: 'same' })),
    interleaved: true,
    arrives: withId('same'),
    mergesEqual: true,
  },
  'whole calls, no index': { pieces: whole(({ id }) => ({ id })), interleaved: true },
  'whole calls, no index, no ids': {
    pieces: whole(() => ({})),
    interleaved: true,
    arrives: withoutId,
  },
  'whole calls, no index, one id for all': {
    pieces: whole(() => ({ id: 'same' })),
    interleaved: true,
    arrives: withId('same'),
    mergesEqual: true,
  },
};

/** JSON text of an object, cut anywhere; some cuts are empty pieces. */
const cutArguments = fc
  .tuple(
    fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    fc.array(fc.nat(), { maxLength: 5 }),
  )
  .map(([value, cuts]) => {
    const text = JSON.stringify(value);
    const places = [
      0,
      ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b),
      text.length,
    ];
    return places.slice(1).map((end, at) => text.slice(places[at], end));
  });

const cutCalls = fc
  .array(
    fc.record({ name: fc.constantFrom('weather', 'time', 'search'), fragments: cutArguments }),
    { minLength: 1, maxLength: 4 },
  )
  .map((calls) =>
    calls.map(({ name, fragments }, at): CutCall => ({
      call: { id: `call_${at}`, name, arguments: fragments.join('') },
      fragments,
    })),
  );

/** The pieces of all calls: one call after the other, or mixed by `choices`; each call begins before the next. */
function arrange(
  lists: readonly (readonly ToolCallPiece[])[],
  choices: readonly number[] | undefined,
): ToolCallPiece[] {
  if (!choices) return lists.flat();
  const left = lists.map((list) => [...list]);
  const order: ToolCallPiece[] = [];
  for (let n = 0; left.some((list) => list.length > 0); n++) {
    const unbegun = left.findIndex((list, at) => list.length === lists[at]?.length);
    const candidates = left.filter((list, at) => list.length > 0 && (unbegun < 0 || at <= unbegun));
    order.push(
      candidates[
        (choices[n % choices.length] as number) % candidates.length
      ]?.shift() as ToolCallPiece,
    );
  }
  return order;
}

/** The calls that a listener puts together from the deltas. */
function gather(deltas: readonly ToolCallDelta[]): ToolCall[] {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { index, id, name, arguments: text } of deltas) {
    const call = (calls[index] ??= { id: '', name: '', arguments: '' });
    if (id !== undefined) call.id += id;
    if (name !== undefined) call.name += name;
    call.arguments += text;
  }
  return calls;
}

/** The calls that differ in their name or in the value of their arguments. */
function distinct(calls: readonly ToolCall[]): ToolCall[] {
  const keyOf = (call: ToolCall): string => call.name + canonicalJson(parseJson(call.arguments));
  const keys = calls.map(keyOf);
  return calls.filter((_, at) => keys.indexOf(keys[at] as string) === at);
}

describe('StreamFold', () => {
  it('[F39] [F22] assembles the calls of an answer, however a server splits, interleaves and labels them', function () {
    this.timeout(60_000);
    const property = fc.property(
      fc.constantFrom(...Object.keys(DIALECTS)),
      cutCalls,
      fc.array(fc.nat(7), { minLength: 1, maxLength: 12 }),
      (name, calls, choices) => {
        const dialect = DIALECTS[name] as Dialect;
        const fold = new StreamFold();

        const pieces = arrange(
          calls.map((cut, at) => dialect.pieces(cut, at)),
          dialect.interleaved ? choices : undefined,
        );
        const deltas = pieces.map((piece) => fold.addToolCall(piece));

        const arrived = calls.map(({ call }) => dialect.arrives?.(call) ?? call);
        const expected = dialect.mergesEqual ? distinct(arrived) : arrived;
        const named = withDistinctIds(expected);
        expect(fold.message().toolCalls).to.deep.equal(named);
        const shown = named.map((call, at) => (expected[at]?.id === '' ? withoutId(call) : call));
        expect(gather(deltas)).to.deep.equal(shown);
      },
    );

    fc.assert(property, fuzz('stream-fold', 20_000));
  });

  it('[D71] has the ids of its calls in their deltas, also where a provider repeats one', () => {
    const fold = new StreamFold();
    const pieces = ['same', 'same', 'same_2'].map((id, index) => ({ index, id, name: 'look' }));

    const deltas = pieces.map((piece) => fold.addToolCall({ ...piece, arguments: '{}' }));

    const toolCalls = callsOf(fold.message());
    expect(gather(deltas)).to.deep.equal(toolCalls);
    expect(new Set(toolCalls.map(({ id }) => id)).size).to.equal(3);
  });

  describe('[D45] a repeated piece', () => {
    const first = { index: 0, id: 'a', name: 'pay', arguments: '{"cents":5,"to":"x"}' };
    const split = [
      { ...first, arguments: '{"cents":5' },
      { index: 0, arguments: ',"to":"x"}' },
    ];
    const repeats: Readonly<Record<string, readonly ToolCallPiece[]>> = {
      'of a whole call': [first, first],
      'of a whole call, twice': [first, first, first],
      'without a name': [first, { index: 0, id: 'a', arguments: first.arguments }],
      'without an index': [first, { ...first, index: undefined }],
      'of calls without an index': [
        { ...first, index: undefined },
        { ...first, index: undefined },
      ],
      'that writes its arguments differently': [
        first,
        { ...first, arguments: '{ "to": "x", "cents": 5 }\n' },
      ],
      'with the whole call after its pieces': [...split, first],
    };
    for (const [what, pieces] of Object.entries(repeats)) {
      it(`is not another call: ${what}`, () => {
        const fold = new StreamFold();

        const deltas = pieces.map((piece) => fold.addToolCall(piece));

        const expected = [{ id: 'a', name: 'pay', arguments: first.arguments }];
        expect(fold.message().toolCalls).to.deep.equal(withDistinctIds(expected));
        expect(gather(deltas)).to.deep.equal(expected);
      });
    }

    it('is not another call if its arguments are no JSON of this library', () => {
      const fold = new StreamFold();
      const twice = { ...first, arguments: '{"cents":5,"cents":5}' };

      for (const piece of [twice, { ...twice, name: undefined }]) fold.addToolCall(piece);

      expect(fold.message().toolCalls).to.deep.equal([
        { id: 'a', name: 'pay', arguments: twice.arguments },
      ]);
    });

    it('belongs to its call, though other calls with that index or id follow it', () => {
      const fold = new StreamFold();
      const others = [
        { ...first, arguments: '{"cents":6}' },
        { ...first, id: 'b' },
      ];

      for (const piece of [first, ...others, first, ...others]) fold.addToolCall(piece);

      expect(fold.message().toolCalls).to.deep.equal([
        { id: 'a', name: 'pay', arguments: first.arguments },
        { id: 'a_2', name: 'pay', arguments: '{"cents":6}' },
        { id: 'b', name: 'pay', arguments: first.arguments },
      ]);
    });

    const others: Readonly<Record<string, Partial<ToolCallPiece>>> = {
      index: { index: 1 },
      id: { id: 'b' },
      name: { name: 'refund' },
      arguments: { arguments: '{"cents":5,"to":"y"}' },
    };
    for (const [what, change] of Object.entries(others)) {
      it(`is another call if it has another ${what}`, () => {
        const fold = new StreamFold();

        for (const piece of [first, { ...first, ...change }]) fold.addToolCall(piece);

        expect(fold.message().toolCalls).to.have.length(2);
      });
    }

    for (const id of ['', 'null', undefined]) {
      it(`is another call if the server sends ${JSON.stringify(id)} as id`, () => {
        const fold = new StreamFold();

        for (let n = 0; n < 3; n++) fold.addToolCall({ ...first, id });

        expect(fold.message().toolCalls).to.have.length(3);
      });
    }
  });

  it('assembles one call if a server sends a new id with each piece', () => {
    const fold = new StreamFold();

    for (const [n, text] of ['{"ci', 'ty":"', 'Rome"}'].entries())
      fold.addToolCall({
        index: 0,
        id: `id_${n}`,
        arguments: text,
        ...(n === 0 && { name: 'weather' }),
      });

    expect(fold.message().toolCalls).to.deep.equal([
      { id: 'id_0', name: 'weather', arguments: '{"city":"Rome"}' },
    ]);
  });

  it('assembles one call if a server repeats its name differently under one id', () => {
    const fold = new StreamFold();

    fold.addToolCall({ index: 0, id: 'a', name: 'weather', arguments: '{' });
    fold.addToolCall({ index: 0, id: 'a', name: 'functions.weather', arguments: '}' });

    expect(fold.message().toolCalls).to.deep.equal([{ id: 'a', name: 'weather', arguments: '{}' }]);
  });

  it('gives an id to the call that lacks one', () => {
    const fold = new StreamFold();

    fold.addToolCall({ name: 'weather' });
    fold.addToolCall({ id: 'b', name: 'time', arguments: '{}' });
    fold.addToolCall({ id: 'a', arguments: '{"city":"Rome"}' });

    expect(fold.message().toolCalls).to.deep.equal([
      { id: 'a', name: 'weather', arguments: '{"city":"Rome"}' },
      { id: 'b', name: 'time', arguments: '{}' },
    ]);
  });

  it('assembles one call if its last piece repeats the name with a line feed', () => {
    const fold = new StreamFold();

    fold.addToolCall({ index: 0, id: 'a', name: 'weather', arguments: '{}' });
    fold.addToolCall({ index: 0, id: 'a', name: 'weather', arguments: '\n' });

    expect(fold.message().toolCalls).to.deep.equal([
      { id: 'a', name: 'weather', arguments: '{}\n' },
    ]);
  });

  it('starts another call at another id if the previous call ended with a line feed', () => {
    const fold = new StreamFold();

    fold.addToolCall({ index: 0, id: 'a', name: 'weather', arguments: '{}\n' });
    fold.addToolCall({ index: 0, id: 'b', arguments: '{}' });
    fold.addToolCall({ index: 0, id: 'b', name: 'time' });

    expect(fold.message().toolCalls).to.deep.equal([
      { id: 'a', name: 'weather', arguments: '{}\n' },
      { id: 'b', name: 'time', arguments: '{}' },
    ]);
  });

  it('starts another call at another name if the previous call has no id', () => {
    const fold = new StreamFold();

    fold.addToolCall({ name: 'weather', arguments: '{"a":1}' });
    fold.addToolCall({ id: 'b', name: 'time', arguments: '' });
    fold.addToolCall({ arguments: '{}' });

    expect(fold.message().toolCalls).to.deep.equal([
      { id: 'call_1', name: 'weather', arguments: '{"a":1}' },
      { id: 'b', name: 'time', arguments: '{}' },
    ]);
  });

  it('has id and name of a call only in its first delta', () => {
    const fold = new StreamFold();

    const deltas = [
      fold.addToolCall({ index: 3, arguments: '{' }),
      fold.addToolCall({ index: 3, id: 'a', name: 'weather' }),
      fold.addToolCall({ index: 3, id: 'a', name: 'weather', arguments: '}' }),
    ];

    expect(deltas).to.deep.equal([
      { type: 'tool-call-delta', index: 0, arguments: '{' },
      { type: 'tool-call-delta', index: 0, id: 'a', name: 'weather', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '}' },
    ]);
  });

  it('merges the metadata of the pieces of a call', () => {
    const fold = new StreamFold();

    fold.addToolCall({
      index: 0,
      id: 'a',
      name: 'f',
      arguments: '{}',
      metadata: { signature: 's' },
    });
    fold.addToolCall({ index: 0, metadata: { more: 1 } });

    expect(fold.message().toolCalls?.[0]?.metadata).to.deep.equal({ signature: 's', more: 1 });
  });

  it('has null as text with calls or a refusal, and an empty text without content', () => {
    const calls = new StreamFold();
    calls.addToolCall({ index: 0, id: 'a', name: 'f', arguments: '{}' });
    const refusal = new StreamFold();
    refusal.refusal += 'No.';

    expect(calls.message().content).to.equal(null);
    expect(refusal.message()).to.deep.equal({
      role: 'assistant',
      content: null,
      refusal: 'No.',
    });
    expect(new StreamFold().message()).to.deep.equal({
      role: 'assistant',
      content: '',
    });
  });

  it('keeps text, reasoning and metadata of the message', () => {
    const fold = new StreamFold();
    fold.text += 'Hel';
    fold.text += 'lo';
    fold.reasoning += 'hm';

    expect(fold.message({ id: 1 })).to.deep.equal({
      role: 'assistant',
      content: 'Hello',
      reasoning: 'hm',
      metadata: { id: 1 },
    });
  });
});
