import '../support/full-sweeps.js';
import './tool-calling-advisor-faults.test.js';
