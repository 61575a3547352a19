// The application as a test of workerd.
import { runApplication } from './application.mjs';

export default {
  async test(_controller, { WIRES_ADDRESS }) {
    await runApplication(WIRES_ADDRESS);
  },
};
