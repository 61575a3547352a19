import { itSurvivesKills } from '../support/durable-kills.js';

itSurvivesKills(Array.from({ length: 60 }, (_, at) => at + 1));
