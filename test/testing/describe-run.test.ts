import { expect } from 'chai';
import { describeRun, type SpanLike } from '../../src/testing/index.js';
import { madeUp, time, type MadeUpSpan } from '../support/made-up-spans.js';

const TURN = { 'gen_ai.operation.name': 'invoke_agent' };
const CHAT = { 'gen_ai.operation.name': 'chat' };
const TOOL = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather' };
const DONE = { 'advisor_chain.outcome': 'success' };

const failed = (type: string) => ({ 'advisor_chain.outcome': 'error', 'error.type': type });
const tokens = (input: number, output: number) => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});

function span(
  id: string,
  name: string,
  from: number,
  to: number,
  rest: Partial<MadeUpSpan> = {},
): MadeUpSpan {
  return { id, name, from, to, ...rest };
}

const WHOLE_TURN = madeUp([
  // in the order in which spans end, as an SDK exports them
  span('4', 'chat gpt-5-mini', 2, 42.5, {
    parent: '3',
    attributes: { ...CHAT, ...failed('429') },
    events: [{ name: 'exception', at: 42.5, attributes: { 'exception.type': '429' } }],
  }),
  span('5', 'chat gpt-5-mini', 43, 943, {
    parent: '3',
    attributes: {
      ...CHAT,
      ...DONE,
      ...tokens(1_210, 15),
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.response.time_to_first_chunk': 0.1205,
    },
  }),
  span('7', 'SELECT weather', 946, 970, { parent: '6' }),
  span('6', 'execute_tool get_weather', 945, 975.25, {
    parent: '3',
    attributes: { ...TOOL, ...DONE },
  }),
  span('8', 'execute_tool get_wind', 945.5, 2_000, {
    parent: '3',
    attributes: { ...TOOL, 'advisor_chain.outcome': 'timeout', 'error.type': 'timeout' },
    events: [
      {
        name: 'advisor_chain.retry',
        at: 1_000,
        attributes: { 'error.type': 'TypeError', 'advisor_chain.retry.attempt': 1 },
      },
      { name: 'advisor_chain.timeout', at: 1_999 },
    ],
  }),
  span('9', 'chat gpt-5-mini', 2_001, 3_140, {
    parent: '3',
    attributes: {
      ...CHAT,
      ...DONE,
      ...tokens(1_300, 99),
      'gen_ai.response.finish_reasons': ['stop'],
    },
  }),
  span('3', 'advisor tool-calling', 1, 3_145, {
    parent: '2',
    attributes: { ...DONE, 'advisor_chain.advisor.exclusive_time': 0.0035 },
    events: [
      {
        name: 'advisor_chain.retry',
        at: 42.75,
        attributes: { 'error.type': '429', 'advisor_chain.retry.attempt': 1 },
      },
      {
        name: 'advisor_chain.limit',
        at: 2_000.5,
        attributes: { 'advisor_chain.limit': 'iterations', 'advisor_chain.limit.max': 1 },
      },
    ],
  }),
  span('2', 'advisor chat-memory', 0.5, 3_149, {
    parent: '1',
    attributes: { ...DONE, 'advisor_chain.advisor.exclusive_time': 0.0045 },
  }),
  span('1', 'invoke_agent', 0, 3_150, {
    attributes: {
      ...TURN,
      ...DONE,
      ...tokens(2_510, 114),
      'gen_ai.response.finish_reasons': ['stop'],
      'advisor_chain.turn.iterations': 3,
      'advisor_chain.turn.tool_calls': 2,
    },
  }),
]);

describe('describeRun', () => {
  it('prints a turn as a tree with durations, tokens and outcomes', () => {
    expect(describeRun(WHOLE_TURN)).to.equal(
      `
invoke_agent                       3,150.0 ms  2,510 in  114 out  3 iterations, 2 tool calls, stop
└─ advisor chat-memory             3,148.5 ms                     own 4.5 ms
   └─ advisor tool-calling         3,144.0 ms                     own 3.5 ms
      ├─ chat gpt-5-mini              40.5 ms                     error 429
      ├─ * retry: type 429, attempt 1
      ├─ chat gpt-5-mini             900.0 ms  1,210 in   15 out  tool_calls, first chunk 120.5 ms
      ├─ execute_tool get_weather     30.3 ms                     success
      │  └─ SELECT weather            24.0 ms
      ├─ execute_tool get_wind     1,054.5 ms                     timeout
      │  ├─ * retry: type TypeError, attempt 1
      │  └─ * timeout
      ├─ * limit: limit iterations, max 1
      └─ chat gpt-5-mini           1,139.0 ms  1,300 in   99 out  stop`.trim(),
    );
  });

  it('prints spans of SDK 1, which have the id of their parent only, the same way', () => {
    const older = WHOLE_TURN.map(({ parentSpanContext, ...rest }) => ({
      ...rest,
      parentSpanId: parentSpanContext?.spanId,
    }));

    expect(describeRun(older)).to.equal(describeRun(WHOLE_TURN));
  });

  it('prints nothing for no spans', () => {
    expect(describeRun([])).to.equal('');
  });

  it('prints turns in the order in which they began', () => {
    const turn = (from: number): MadeUpSpan[] => [
      span('2', 'chat a', from + 1, from + 2, { parent: '1', attributes: CHAT }),
      span('1', 'invoke_agent', from, from + 3, { attributes: TURN }),
    ];

    expect(describeRun([...madeUp(turn(50), 'later'), ...madeUp(turn(5), 'earlier')])).to.equal(
      [
        'invoke_agent  3.0 ms',
        '└─ chat a     1.0 ms',
        '',
        'invoke_agent  3.0 ms',
        '└─ chat a     1.0 ms',
      ].join('\n'),
    );
    expect(
      describeRun([...madeUp(turn(5), 'a'), ...madeUp([span('9', 'earliest', 0, 1)], 'b')]),
    ).to.match(/^earliest .*\n\ninvoke_agent/);
  });

  it('takes a span without its parent as a root', () => {
    const spans = madeUp([span('2', 'invoke_agent', 0, 1, { parent: 'of the server' })]);

    expect(describeRun(spans)).to.equal('invoke_agent  1.0 ms');
  });

  it('prints children in the order in which they began, and events before later children', () => {
    const spans = madeUp([
      span('1', 'advisor a', 0, 9, { events: [{ name: 'advisor_chain.retry', at: 4 }] }),
      span('3', 'second', 4, 5, { parent: '1' }),
      span('2', 'first', 1, 8, { parent: '1' }),
    ]);

    expect(describeRun(spans)).to.equal(
      ['advisor a  9.0 ms', '├─ first   7.0 ms', '├─ * retry', '└─ second  1.0 ms'].join('\n'),
    );
  });

  it('prints a count of one in the singular', () => {
    const counts = {
      'advisor_chain.turn.iterations': 1,
      'advisor_chain.turn.tool_calls': 0,
    };
    const spans = madeUp([span('1', 'turn', 0, 1, { attributes: { ...TURN, ...counts } })]);

    expect(describeRun(spans)).to.equal('turn  1.0 ms  1 iteration, 0 tool calls');
  });

  it('prints the model of a fallback, and the message of a recorded exception', () => {
    const spans = madeUp([
      span('1', 'advisor fallback', 0, 9, {
        events: [
          {
            name: 'advisor_chain.fallback',
            at: 2,
            attributes: { 'error.type': '503', 'gen_ai.request.model': 'small' },
          },
          {
            name: 'exception',
            at: 8,
            attributes: { 'exception.type': 'TypeError', 'exception.message': 'no\n  such city' },
          },
        ],
      }),
    ]);

    expect(describeRun(spans)).to.equal(
      [
        'advisor fallback  9.0 ms',
        '├─ * fallback: type 503, model small',
        '└─ * exception: type TypeError, message no such city',
      ].join('\n'),
    );
  });

  it('prints spans of other libraries: events by name, errors by status', () => {
    const [foreign] = madeUp([
      span('1', 'GET /weather', 0, 1, { error: true, events: [{ name: 'cache.miss', at: 0.5 }] }),
    ]);
    const withText = { ...(foreign as SpanLike), status: { code: 2, message: 'connection lost' } };

    expect(describeRun(foreign ? [foreign] : [])).to.equal(
      'GET /weather  1.0 ms  error\n└─ * cache.miss',
    );
    expect(describeRun([withText])).to.equal(
      'GET /weather  1.0 ms  error connection lost\n└─ * cache.miss',
    );
  });

  it('marks open spans', () => {
    const [open] = madeUp([span('1', 'invoke_agent', 5, 0)]);

    expect(describeRun([{ ...(open as SpanLike), ended: false }])).to.equal('invoke_agent  open');
  });

  it('prints one line per span in aligned columns, whatever the name', () => {
    const spans = madeUp([
      span('1', 'a', 0, 1),
      span('2', `SELECT *\n\u001b[31m${'x'.repeat(500)}`, 0, 1, { parent: '1' }),
      span('3', 'b', 0, 1, { parent: '1' }),
    ]);
    const [first, second, third] = describeRun(spans).split('\n');

    expect(first).to.have.length.below(100);
    expect(second)
      .to.match(/^├─ SELECT \* \[31mx+… {2}1\.0 ms$/)
      .and.have.length.below(250);
    expect(third?.length).to.equal(first?.length);
  });

  describe('with malformed spans', () => {
    const spanContext = () => ({ traceId: 't', spanId: '1' });

    it('ignores attributes of an unexpected type', () => {
      const bare: SpanLike = { name: 'bare', startTime: time(0), endTime: time(1), spanContext };
      const odd = {
        ...bare,
        attributes: {
          ...TURN,
          'gen_ai.usage.input_tokens': 'ten',
          'gen_ai.usage.output_tokens': NaN,
          'gen_ai.response.finish_reasons': ['stop', Symbol('none'), null],
          'advisor_chain.advisor.exclusive_time': null,
          'error.type': undefined,
        },
      };

      expect(describeRun([bare])).to.equal('bare  1.0 ms');
      expect(describeRun([odd])).to.equal('bare  1.0 ms  stop');
    });

    it('prints spans and events without times', () => {
      const none = {
        name: 'none',
        events: [{ name: 'event' }],
        spanContext,
      } as unknown as SpanLike;
      const half = {
        ...none,
        startTime: null,
        endTime: null,
        events: null,
        attributes: null,
        status: null,
      } as unknown as SpanLike;

      expect(describeRun([none])).to.equal('none  open\n└─ * event');
      expect(describeRun([half])).to.equal('none  open');
    });

    it('prints spans with the same id', () => {
      const spans = madeUp([
        span('1', 'one', 0, 1),
        span('1', 'another', 1, 2),
        span('2', 'child', 1, 2, { parent: '1' }),
      ]);

      expect(describeRun(spans).match(/one|another|child/g)).to.have.members([
        'one',
        'another',
        'child',
      ]);
    });

    it('prints many spans, nested or side by side', () => {
      const deep = madeUp(
        Array.from({ length: 100 }, (_, at) =>
          span(`${at}`, 'deep', at, 100, { parent: `${at - 1}` }),
        ),
      );
      const wide = madeUp(Array.from({ length: 500 }, (_, at) => span(`${at}`, 'wide', at, at)));

      expect(describeRun(deep).match(/─ deep/g)).to.have.length(99);
      expect(describeRun(wide).match(/wide/g)).to.have.length(500);
    });

    it('prints a time slightly below 0 as 0', () => {
      const spans = madeUp([
        span('1', 'advisor a', 0, 0, {
          attributes: { 'advisor_chain.advisor.exclusive_time': -1e-12 },
        }),
      ]);

      expect(describeRun(spans)).to.equal('advisor a  0.0 ms  own 0.0 ms');
    });
  });
});
