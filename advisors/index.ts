export { ToolCallingAdvisor, type ToolCallingAdvisorOptions } from './tool-calling-advisor.js';
