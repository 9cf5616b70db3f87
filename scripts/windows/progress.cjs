// Mocha's JSON reporter, which also writes each result to the log at once: so the log names the test in which a suite hangs.
const { reporters } = require('mocha');

module.exports = class extends reporters.JSON {
  constructor(runner, options) {
    super(runner, options);
    const start = Date.now();
    const write = (event) => (test) =>
      console.log(`${Math.round((Date.now() - start) / 1000)} s: ${event} ${test.fullTitle()}`);
    for (const event of ['hook', 'test', 'pass', 'fail', 'pending']) runner.on(event, write(event));
  }
};
