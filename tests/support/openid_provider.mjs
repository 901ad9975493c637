// A real OpenID Connect provider for the tests. Arguments: the URL of ticketbox, and the folder with node_modules.
// Commands arrive as lines of JSON: {"person": {...}} sets who signs in, {"rotate": true} replaces the keys.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const [base, modules] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

let person = {};
const keys = [];
function addKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  keys.unshift({ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' });
}
addKey();

let provider;
const server = createServer((request, response) => provider.callback()(request, response));
await new Promise((resolve) => server.listen(Number(process.argv[4] ?? 0), '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

function build() {
  provider = new Provider(issuer, {
    clients: [
      { client_id: 'ticketbox', client_secret: 'a secret: 100%', redirect_uris: [`${base}/signin/callback`] },
    ],
    jwks: { keys: [keys[0]] },
    cookies: { keys: ['a key of the tests'] },
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: true,
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...person[id] }) }),
  });
}
build();

createInterface({ input: process.stdin }).on('line', (line) => {
  const command = JSON.parse(line);
  if (command.person) person = command.person;
  if (command.rotate) {
    addKey();
    build();
  }
  console.log('done');
});
console.log(issuer);
