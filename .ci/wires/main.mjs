// The application as a program, for runtimes with a `process`.
import { runApplication } from './application.mjs';

const names = await runApplication(process.env.WIRES_ADDRESS);
console.log(names.join(', '));
