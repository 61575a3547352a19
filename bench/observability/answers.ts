/** Answer of the models of this benchmark. */
export const ANSWER =
  'The weather in Paris is sunny with 21 degrees, and it stays so until the evening.';
export const TOOL = 'get_weather';
export const ITERATIONS = 10;
export const CHUNKS = 2_000;
