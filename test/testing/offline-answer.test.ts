import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../src/core/chat/message.js';
import type { JsonSchema, ToolDefinition } from '../../src/core/chat/tool-definition.js';
import { offlineAnswer } from '../../src/testing/index.js';
import {
  anyQuestion,
  callsOfferedToolsOnly,
  converse,
  firstCalls,
  NUMBER,
  TEXT,
  text,
  tool,
  WHOLE,
} from '../support/offline-scene.js';

const weather = tool(
  'get_weather',
  'Current weather in a city.',
  { city: text('Name of the city') },
  ({ city }) => ({
    temperature: city === 'Rome' ? 24 : 9,
  }),
);
const search = tool('web_search', 'Searches the web.', { query: TEXT });
const email = tool('send_email', 'Sends an email.', {
  to: text('Recipient address'),
  'subject?': TEXT,
  body: text('Text of the mail'),
});
const flight = tool(
  'find_flight',
  'Finds a flight between two cities.',
  { from: text('City of departure'), to: text('City of arrival') },
  () => ({
    airline: 'Example Air',
    price: 180,
  }),
);
const hotel = tool(
  'find_hotel',
  'Finds a hotel in a city.',
  { city: TEXT, nights: WHOLE },
  ({ nights }) => ({
    price: 90 * (nights as number),
  }),
);
const cost = tool(
  'trip_cost',
  'Adds up what a trip costs in total.',
  { flight_price: NUMBER, hotel_price: NUMBER },
  (args) => ({
    total: (args['flight_price'] as number) + (args['hotel_price'] as number),
  }),
);
const add = tool('add', 'Adds two numbers.', { a: NUMBER, b: NUMBER });
const multiply = tool('multiply', 'Multiplies two numbers.', { a: NUMBER, b: NUMBER });

/** A question, the offered tools, and the calls of the first iteration. */
const FIRST_CALLS: readonly (readonly [
  question: string,
  tools: readonly ToolDefinition[],
  calls: Readonly<Record<string, object | readonly object[]>>,
])[] = [
  [
    'What is the weather in New York?',
    [search, weather, add],
    { get_weather: { city: 'New York' } },
  ],
  ['weather paris', [search, weather], { get_weather: { city: 'weather paris' } }],
  ['In Oslo, how is the weather?', [weather], { get_weather: { city: 'Oslo' } }],
  [
    'Search the web for the best pizza in Naples',
    [weather, search, email],
    { web_search: { query: 'Search the web for the best pizza in Naples' } },
  ],
  [
    'Search the web for "pizza in Naples"',
    [weather, search],
    { web_search: { query: 'pizza in Naples' } },
  ],
  [
    'Get the current stock price of "ACME"',
    [
      tool('get_crypto_price', 'Price of a coin.', { symbol: TEXT }),
      tool('get_current_stock_price', 'Current price of a stock.', { symbol: TEXT }),
    ],
    { get_current_stock_price: { symbol: 'ACME' } },
  ],
  [
    'Email bob@example.org the message "See you at 5, and bring \'it\'"',
    [search, email],
    { send_email: { to: 'bob@example.org', body: "See you at 5, and bring 'it'" } },
  ],
  [
    'How much is a hotel in Rome for 2 nights?',
    [flight, hotel, weather],
    { find_hotel: { city: 'Rome', nights: 2 } },
  ],
  [
    'Add 5 and 7, and multiply 3 by 4',
    [multiply, add],
    { add: { a: 5, b: 7 }, multiply: { a: 3, b: 4 } },
  ],
  [
    'Turn on the lights in the kitchen and set the thermostat to 21 degrees',
    [
      tool('setThermostat', 'Sets the target temperature.', { degrees: NUMBER }),
      tool('setLight', 'Turns a light on or off.', {
        room: { enum: ['kitchen', 'bedroom'] },
        on: { type: 'boolean' },
      }),
    ],
    { setLight: { room: 'kitchen', on: true }, setThermostat: { degrees: 21 } },
  ],
  [
    'Translate "good morning" into French',
    [
      search,
      tool('translate', 'Translates a text.', {
        text: TEXT,
        language: { enum: ['German', 'French'] },
        tone: { enum: ['formal', 'casual'] },
      }),
    ],
    { translate: { text: 'good morning', language: 'French', tone: 'formal' } },
  ],
  [
    'Book a table at Noma for 4 people on 2026-05-15 at 19:30',
    [
      hotel,
      tool('book_table', 'Books a table in a restaurant.', {
        date: { type: 'string', format: 'date' },
        time: { type: 'string', format: 'time' },
        restaurant: TEXT,
        people: WHOLE,
        area: { type: 'string', default: 'inside' },
      }),
    ],
    {
      book_table: {
        date: '2026-05-15',
        time: '19:30',
        restaurant: 'Noma',
        people: 4,
        area: 'inside',
      },
    },
  ],
  [
    'What is the mean of 4, 8, 15 and 16?',
    [add, tool('mean', 'Mean of a list of numbers.', { values: { type: 'array', items: NUMBER } })],
    { mean: { values: [4, 8, 15, 16] } },
  ],
  [
    'What is the area of a triangle with a base of 10 cm and a height of 5 cm?',
    [multiply, tool('triangle_area', 'Area of a triangle.', { base: NUMBER, height: NUMBER })],
    { triangle_area: { base: 10, height: 5 } },
  ],
  [
    'What is the payment for a loan of $200,000 over 30 years at 4.5% interest?',
    [
      add,
      tool('loan_payment', 'Monthly payment of a loan.', {
        loan_amount: NUMBER,
        years: WHOLE,
        interest_rate: NUMBER,
      }),
    ],
    { loan_payment: { loan_amount: 200_000, years: 30, interest_rate: 4.5 } },
  ],
  [
    'Read the file /var/data/report.csv with a header',
    [search, tool('read_file', 'Reads a file.', { path: TEXT, header: { type: 'boolean' } })],
    { read_file: { path: '/var/data/report.csv', header: true } },
  ],
  [
    'Show the status of order A-1042',
    [search, tool('order_status', 'Status of an order.', { order_id: TEXT })],
    { order_status: { order_id: 'A-1042' } },
  ],
  [
    'Create a contact with the name Anna Schmidt and the email anna@example.com',
    [
      search,
      tool('create_contact', 'Creates a contact.', {
        contact: {
          type: 'object',
          properties: { name: TEXT, email: { type: 'string', format: 'email' } },
          required: ['name', 'email'],
        },
      }),
    ],
    { create_contact: { contact: { name: 'Anna Schmidt', email: 'anna@example.com' } } },
  ],
];

describe('offlineAnswer', () => {
  for (const [question, tools, expected] of FIRST_CALLS) {
    it(`calls ${Object.keys(expected).join(' and ')} for "${question}"`, () => {
      const calls = firstCalls(question, tools);

      expect(calls).to.deep.equal(
        Object.entries(expected).flatMap(([name, args]) =>
          [args].flat().map((one: object) => ({ name, args: one })),
        ),
      );
    });
  }

  for (const question of [
    'When was Hamlet written?',
    'Hello!',
    'Find me a joke about a city',
    '',
  ]) {
    it(`answers "${question}" with a text, since no tool fits`, () => {
      const answer = offlineAnswer({
        messages: [{ role: 'user', content: question }],
        tools: [weather, hotel],
      });

      expect(answer.toolCalls).to.deep.equal([]);
      expect(answer.text).to.contain('no tool fits');
    });
  }

  it('uses results of one iteration as arguments of the next, and answers with all results', () => {
    const { rounds, text: answer } = converse(
      'Find a flight from Berlin to Lisbon and a hotel in Lisbon for 3 nights. What does the trip cost in total?',
      [cost, hotel, flight],
    );

    expect(rounds).to.deep.equal([
      [
        { name: 'find_flight', args: { from: 'Berlin', to: 'Lisbon' } },
        { name: 'find_hotel', args: { city: 'Lisbon', nights: 3 } },
      ],
      [{ name: 'trip_cost', args: { flight_price: 180, hotel_price: 270 } }],
    ]);
    expect(answer?.split('\n')).to.deep.equal([
      'find_flight: {"airline":"Example Air","price":180}',
      'find_hotel: {"price":270}',
      'trip_cost: {"total":450}',
    ]);
  });

  it('uses samples of the type and the format where no source has a value', () => {
    const invite = tool('invite_guest', 'Invites a guest.', {
      email: { type: 'string', format: 'email' },
      seats: { type: 'integer', minimum: 2 },
      options: { type: 'object', properties: { vegetarian: { type: 'boolean' } } },
      tables: { type: 'array', items: WHOLE },
    });

    expect(firstCalls('Invite a guest', [invite])).to.deep.equal([
      {
        name: 'invite_guest',
        args: { email: 'user@example.org', seats: 2, options: {}, tables: [] },
      },
    ]);
  });

  it('reports the error of a tool, and does not repeat the call', () => {
    const failed: Message[] = [
      { role: 'user', content: 'What is the weather in Oslo?' },
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: '1', name: 'get_weather', arguments: '{"city":"Oslo"}' }],
      },
      {
        role: 'tool',
        toolCallId: '1',
        toolName: 'get_weather',
        content: 'the station is down',
        isError: true,
      },
    ];

    const answer = offlineAnswer({ messages: failed, tools: [weather] });

    expect(answer).to.deep.equal({
      text: 'get_weather: the station is down',
      toolCalls: [],
    });
  });

  it('repeats a call of an earlier turn', () => {
    const { messages, text: answer } = converse('What is the weather in Oslo?', [weather]);
    const again: Message[] = [
      ...messages,
      { role: 'assistant', content: answer },
      { role: 'user', content: 'What is the weather in Oslo?' },
    ];

    expect(converse(again, [weather]).rounds).to.have.length(1);
  });

  describe('with a tool that searches for tools', () => {
    const search = {
      name: 'toolSearchTool',
      description: 'Finds tools that are not in your list yet.',
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
      },
    };
    const weather = {
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    };
    const question = 'What is the weather in Oslo?';
    const asked = { role: 'user', content: question } as const;
    const searched: readonly Message[] = [
      asked,
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: 's', name: search.name, arguments: JSON.stringify({ query: question }) }],
      },
      {
        role: 'tool',
        toolCallId: 's',
        toolName: search.name,
        content: '[{"name":"get_weather","description":"The weather of a city."}]',
      },
    ];

    it('searches if no tool fits, then calls the tool that was found', () => {
      expect(offlineAnswer({ messages: [asked], tools: [search] }).toolCalls).to.deep.equal([
        { name: search.name, args: { query: question } },
      ]);
      expect(
        offlineAnswer({ messages: searched, tools: [search, weather] }).toolCalls,
      ).to.deep.equal([{ name: 'get_weather', args: { city: 'Oslo' } }]);
    });

    it('does not search if a tool fits, with tool choice "none", or a second time', () => {
      expect(
        offlineAnswer({ messages: [asked], tools: [search, weather] }).toolCalls[0]?.name,
      ).to.equal('get_weather');
      expect(
        offlineAnswer({ messages: [asked], tools: [search], toolChoice: 'none' }).toolCalls,
      ).to.deep.equal([]);
      expect(offlineAnswer({ messages: searched, tools: [search] }).toolCalls).to.deep.equal([]);
    });

    it('leaves the search out of the answer', () => {
      const answered: readonly Message[] = [
        ...searched,
        {
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'w', name: 'get_weather', arguments: '{"city":"Oslo"}' }],
        },
        { role: 'tool', toolCallId: 'w', toolName: 'get_weather', content: 'sunny' },
      ];

      expect(offlineAnswer({ messages: answered, tools: [search, weather] }).text).to.equal(
        'get_weather: sunny',
      );
    });
  });

  it('applies the tool choice and parallelToolCalls', () => {
    const question = 'What is the weather in Oslo?';

    expect(firstCalls(question, [weather], { toolChoice: 'none' })).to.deep.equal([]);
    expect(firstCalls('Hello Oslo', [weather], { toolChoice: 'required' })).to.deep.equal([
      { name: 'get_weather', args: { city: 'Oslo' } },
    ]);
    expect(
      firstCalls(question, [weather, search], { toolChoice: { tool: 'web_search' } }).map(
        (call) => call.name,
      ),
    ).to.deep.equal(['web_search']);
    expect(
      firstCalls('The weather and a hotel in Rome for 2 nights', [weather, hotel], {
        parallelToolCalls: false,
      }),
    ).to.have.length(1);
  });

  it('answers with JSON for a schema, as an option or at the end of the question', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { city: TEXT, population: WHOLE },
      required: ['city', 'population'],
    };
    const question = 'The city of Milan has a population of 1,371,000.';

    const byOption = offlineAnswer({
      messages: [{ role: 'user', content: question }],
      responseFormat: { schema },
    });
    const byText = offlineAnswer({
      messages: [
        {
          role: 'user',
          content: `${question}\nAnswer with JSON. It must fit this JSON Schema:\n${JSON.stringify(schema)}`,
        },
      ],
    });

    expect(JSON.parse(byOption.text ?? '')).to.deep.equal({ city: 'Milan', population: 1_371_000 });
    expect(byText).to.deep.equal(byOption);
  });

  it('prefers results to the question in JSON, and fills a nullable or referenced property', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        city: { anyOf: [TEXT, { type: 'null' }] },
        temperature: { $ref: '#/$defs/degrees' },
      },
      required: ['city', 'temperature'],
      $defs: { degrees: NUMBER },
    };
    const { messages } = converse('What is the weather in Oslo on the 5 th?', [weather]);

    const answer = offlineAnswer({ messages, tools: [weather], responseFormat: { schema } });

    expect(answer.text).to.equal('{"city":"Oslo","temperature":9}');
  });

  it('accepts any text and any schema, and calls offered tools only', () => {
    fc.assert(fc.property(anyQuestion, callsOfferedToolsOnly), { numRuns: 10 });
  });
});
