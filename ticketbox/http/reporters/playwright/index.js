/** Files failed and flaky tests as tickets. It never fails a run, and prints at most a few lines. */
import path from 'node:path';
import { Client, isFinal } from './client.js';
import { describeFailure, describeTest, plain } from './failures.js';
import { fileFailure, notePasses } from './tickets.js';

const RUN_MS = 120_000;

export default class TicketReporter {
  constructor(options = {}) {
    const { env } = process;
    this.options = {
      url: env.TICKETBOX_URL,
      token: env.SERVICE_API_TOKEN,
      project: env.TICKETBOX_PROJECT,
      label: 'failing-test',
      attachTrace: true,
      maxFailures: 20,
      ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    };
  }

  printsToStdio() {
    return false;
  }

  onBegin(config, suite) {
    this.root = config.rootDir;
    this.suite = suite;
  }

  /** An error outside of tests, such as in a file that can't be loaded, belongs to no ticket. */
  onError(error) {
    const [first] = (error.message ?? error.value ?? '').split('\n');
    say(`an error outside of tests isn't reported as a ticket: ${plain(first)}`);
  }

  async onEnd() {
    try {
      await this.report();
    } catch (error) {
      say(`not everything was reported: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async report() {
    const { url, token, project } = this.options;
    const missing = Object.entries({ TICKETBOX_URL: url, SERVICE_API_TOKEN: token, project })
      .filter(([, value]) => !value)
      .map(([name]) => name);
    if (missing.length > 0) {
      say(`nothing was reported: ${missing.join(', ')} not set`);
      return;
    }
    const client = new Client(url, token, Date.now() + RUN_MS);
    const failed = [];
    const passed = new Set();
    for (const test of this.suite?.allTests() ?? []) {
      const outcome = test.outcome();
      const name = describeTest(test, this.root);
      if (outcome === 'expected' && test.results.at(-1)?.status === 'passed') passed.add(name);
      else if (outcome === 'unexpected' || outcome === 'flaky') failed.push([name, test, outcome]);
    }
    for (const [name, test, outcome] of failed.slice(0, this.options.maxFailures)) {
      try {
        const file = path.relative(this.root, test.location.file);
        say(await fileFailure(client, this.options, await describeFailure(name, test, outcome, file)));
      } catch (error) {
        if (isFinal(error)) throw error;
        say(`${name}: not reported: ${error.message}`);
      }
      passed.delete(name); // it failed in another browser
    }
    const left = failed.length - this.options.maxFailures;
    if (left > 0) say(`${left} more failed tests weren't reported; the limit is ${this.options.maxFailures}`);
    for (const [name] of failed) passed.delete(name);
    for (const line of await notePasses(client, this.options, passed)) say(line);
  }
}

function say(text) {
  process.stderr.write(`ticketbox: ${text.replace(/\p{Cc}+/gu, ' ')}\n`);
}
