export { serveOpenAI, type ServedCall, type ServeOpenAIOptions } from './serve-openai.js';
