// Files two failures of each test with the reporter for Playwright, then notes that all pass; prints its lines and calls.
const folder = '../ticketbox/http/reporters/playwright';
const { Client } = await import(`${process.cwd()}/${folder}/client.js`);
const { describeFailure } = await import(`${process.cwd()}/${folder}/failures.js`);
const { fileFailure, notePasses } = await import(`${process.cwd()}/${folder}/tickets.js`);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { url, token, project, names } = JSON.parse(Buffer.concat(chunks));
const calls = [];
class CountingClient extends Client {
  call(method, address, content) {
    calls.push(address);
    return super.call(method, address, content);
  }
}
const client = new CountingClient(url, token, Date.now() + 30_000);
const options = { project, label: 'failing-test', attachTrace: false };
for (const name of names) {
  const result = {
    status: 'failed',
    errors: [{ message: 'E' }],
    attachments: [],
    stdout: [],
    stderr: [],
    startTime: new Date(),
    duration: 1,
  };
  const test = {
    titlePath: () => ['', '', 'a.spec.js', 'a test'],
    expectedStatus: 'passed',
    results: [result],
    location: { line: 1 },
  };
  const failure = await describeFailure(name, test, 'unexpected', 'a.spec.js');
  await fileFailure(client, options, failure);
  await fileFailure(client, options, failure);
}
const lines = await notePasses(client, options, new Set([...names, 'another']));
process.stdout.write(JSON.stringify([lines, calls]), () => process.exit(0));
