import '../support/full-sweeps.js';
import './wires.test.js';
