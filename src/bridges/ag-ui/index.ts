export { agUI, type AgUIOptions } from './ag-ui.js';
export { fromRunInput, type RunInput, type RunInputOptions } from './run-input.js';
