import { DEFAULT } from '../src/kinds/profiles/default/profile.ts'
import { z } from 'zod'
import { Fault, FaultRule } from '../src/sandbox/fault-schema.ts'
import { fixtureSchema } from '../src/sandbox/fixture.ts'
import { cell, code } from './table.ts'

/** docs/sandbox.md: what the sandbox is told, from its schemas. */
export function sandboxPage(note: string): string {
  return `# The sandbox

${note}

A made-up platform that implements the interface as it is written, and can be made to misbehave: to see what Pipewright does when a reply
is lost, without an account and without harm. \`npm start\` (\`run --sandbox\`) has one inside of the process; \`pipewright sandbox\` is one as a
server of its own. It is never used unless asked for, and the log and the page say so.

## Lose a reply

A create whose reply is lost: was the pipe made or not? See what becomes of it. Start the daemon with
\`npm start\`; the first line of its log says where the sandbox is (\`baseUrl\`). In another terminal, tell it to do
the work of one create, and to lose the reply:

\`\`\`sh
sandbox=http://127.0.0.1:PORT # the baseUrl
curl -s $sandbox/-/sandbox/faults -H 'content-type: application/json' \\
  -d '{"rules": [{"operation": "createPipe", "subject": "chargebacks", "fault": {"type": "cut-after"}}]}'
\`\`\`

and ask for a pipe:

\`\`\`sh
cat > manifests/payments/chargebacks.yaml <<'END'
apiVersion: pipewright/v1
kind: Pipe
metadata: { name: chargebacks }
spec:
  service: commerce
  source: { kafka: { brokers: b-1.example:9092, topics: chargebacks } }
  destination: { database: shop, table: chargebacks, columns: [{ name: id, type: UUID }] }
  fieldMappings: [{ sourceField: id, destinationField: id }]
END
\`\`\`

The page shows \`Pipe/chargebacks\` as \`OutcomeUnknown\`, with what was seen and each way on. Edit it, suspend it, remove it, kill the daemon and start it
again: it is not sent a second time. What a person would see in the console, the sandbox tells here:

\`\`\`sh
curl -s $sandbox/-/sandbox/state # the pipe is there, once: copy its id
npx pipewright resolve Pipe/chargebacks --adopt ID --sandbox
\`\`\`

To start over: remove the manifest and \`.pipewright/\`.

## Secrets

The credentials of the made-up platform are below \`.pipewright/credentials/\` (\`--credentials-dir\`), the secrets of sources below
\`.pipewright/secrets/\` (\`--secrets-dir\`): a folder for each, a file for each key. They are made up, and nothing outside of your machine knows them. The start of \`run --sandbox\` or \`apply --sandbox\` writes each file that a
manifest refers to and that is not there; no other command does. Before the first start, \`plan\` shows what that start would do.

**A secret that is new.** While the daemon runs, it makes up nothing: a pipe whose \`secretRef\` names a file that is not there is refused
(\`SecretUnavailable\`), and \`plan --sandbox\` says the same. You can write the file, with any content, as the sandbox does not look into the
secrets of a source; the pipe is then created. Or start the daemon again, which makes the file up.

**To revoke a key**, overwrite its file. The daemon gets a 401 (\`AuthFailed\`) at its next request to the service, and at once when you ask for a check:

\`\`\`sh
echo revoked > .pipewright/credentials/commerce-api/keySecret
npx pipewright reconcile --sandbox
\`\`\`

\`plan\`, \`import\` and \`apply\` with \`--sandbox\` get the same 401, and a restart changes nothing.

**To get the right key back**, delete the file, and start the daemon again: it writes the same key as before. If you kept a copy, you can put it
back while the daemon runs.

Which keys of services and which token for alerts are right, the sandbox remembers in \`.pipewright/sandbox.db\`, which only you can read. It
learns each at the first start with a manifest that needs it: what is in the file, or else something made up. What is in the file later
does not change it. A service that you add while the daemon runs has a right key from the next start on. A folder from an older version, in
which nothing is remembered, is taken as it is, once. Its credentials are moved out of
\`.pipewright/secrets/\`, where they were. Keys of your own in another \`--credentials-dir\` are remembered there as well, so name none that are real.

## Faults

\`pipewright sandbox --faults FILE\` reads rules and a mix; \`POST /-/sandbox/faults\` takes the same as JSON while it runs, and
\`"clear": true\` to forget all that was said before.

\`\`\`yaml
rules: # a script: the first that fits a request, and is not used up, decides
  - operation: createPipe
    subject: orders
    fault: { type: cut-after }
  - operation: getPipe
    nth: 3
    times: always
    fault: { type: rate-limit, seconds: 5, header: retry-after }
mix: # by chance, the same for the same seed, for requests that no rule fits
  seed: 7
  faults:
    - { probability: 0.1, fault: { type: latency, ms: 800 } }
    - { probability: 0.05, fault: { type: error-after, status: 503 } }
\`\`\`

| of a rule | takes | what it is |
|---|---|---|
${membersOf(FaultRule).join('\n')}

A mix has a \`seed\` and \`faults\`, each with its \`probability\`; together at most 1.

| type | with | what it does |
|---|---|---|
${faults().join('\n')}

## What is there beforehand

A fixture says it: \`pipewright sandbox --world FILE\`; \`run --sandbox\` takes \`.sandbox.yaml\` in the manifests directory. Each thing is put there once: what changes
later stays changed.

\`\`\`yaml
pipes:
  - id: 7d1a5c3e-48b0-4f96-b2d7-e90c6a1f8b44
    organizationId: 3f6d1c52-8a07-4e1b-9c44-5b1e0d7a2f90
    serviceId: 51d8b6c9-e04a-4f27-93bd-2a6e8c1f7d33
    name: stock
    source: { kafka: { brokers: b-1.example:9092, topics: stock } }
incidents:
  - { pipe: stock, afterMs: 60000, change: { scaling: { replicas: 9 } } } # drift
  - { pipe: stock, afterMs: 120000, vanish: true }
\`\`\`

| of a fixture | what it is |
|---|---|
${Object.entries(properties(fixtureSchema(DEFAULT)))
  .map(([name, { description }]) => `| ${code(name)} | ${cell(told(name, description))} |`)
  .join('\n')}

## Pipes that change

With the profile \`clickhouse-cloud\` (\`pipewright sandbox --profile clickhouse-cloud\`) the sandbox also updates, scales, configures, starts, stops and
deletes pipes, and is as strict and as slow as the service was seen to be:

| request | what is peculiar to it |
|---|---|
| \`PATCH …/clickpipes/{id}\` | all or nothing. \`settings\`, and what cannot change of a Kafka source, is taken and has no effect. A connection without its credentials is answered as a source that cannot be reached. Table mappings change on a pipe that is \`Paused\`, which then runs by itself |
| \`PATCH …/scaling\` | for \`scalingLagMs\` replies show 0 replicas, and no other size |
| \`PUT …/settings\` | merges all the same; 404 for a database |
| \`PATCH …/state\` | the reply shows the state before; each state on the way takes \`movingMs\`. 400 \`already running\` when it is |
| \`DELETE …/clickpipes/{id}\` | the pipe is there for another \`deletingMs\`, takes no changes (409), and is then a 404 |

While its service is anything but \`running\`, pipes are neither created nor changed: 424, with the state at the end of the text. A fault \`not-applied\` answers any request
as if it was done. Credentials are not kept; \`credentialsRevision\` of a pipe in \`GET /-/sandbox/state\` counts how often they changed.

## While it runs

Only from the same machine; a body is JSON, with that content type.

| request | what it does |
|---|---|
| \`GET /-/sandbox/state\` | all pipes, endpoints and alerts, services whose state was set, and every request so far, without secrets |
| \`POST /-/sandbox/faults\` | \`{rules, mix, clear}\`: see above |
| \`POST /-/sandbox/vanish\` | \`{pipeId}\`: the pipe is gone |
| \`POST /-/sandbox/change\` | \`{pipeId, patch}\`: somebody changes the pipe in the console; a JSON merge patch |
| \`POST /-/sandbox/service\` | \`{organizationId, serviceId, state}\`: the service is idle, stopped or running; with the profile \`clickhouse-cloud\` |
| \`POST /-/sandbox/alert\` | \`{id, patch}\`: the alert changes, or comes to be |
`
}

/** The part of JSON Schema that our schemas come to here. */
interface Shape {
  readonly type?: string
  readonly const?: string | boolean
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly default?: string | number | boolean
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Shape>>
}

function shapeOf(schema: z.ZodType): Shape {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape // of a subset of it
}

function properties(schema: z.ZodType): Readonly<Record<string, Shape>> {
  return shapeOf(schema).properties ?? {}
}

function membersOf(schema: z.ZodType): readonly string[] {
  return Object.entries(properties(schema)).map(
    ([name, shape]) => `| ${code(name)} | ${takes(shape)} | ${cell(told(name, shape.description))} |`,
  )
}

function faults(): readonly string[] {
  return (shapeOf(Fault).oneOf ?? []).map(({ properties: members = {}, description }) => {
    const { type, ...others } = members
    const name = String(type?.const)
    const parts = Object.entries(others).map(([member, shape]) => `${code(member)}: ${takes(shape)}`)
    return `| ${code(name)} | ${parts.join('; ')} | ${cell(told(name, description))} |`
  })
}

/** What can be given, in a few words. */
function takes(shape: Shape): string {
  const usual = shape.default === undefined ? '' : ` (${code(String(shape.default))} unless given)`
  return `${valuesOf(shape)}${usual}`
}

function valuesOf({ type, const: only, enum: words, anyOf, oneOf, minimum, maximum }: Shape): string {
  if (only !== undefined) return code(String(only))
  if (words !== undefined) return words.map(code).join(', ')
  if (anyOf !== undefined) return anyOf.map(valuesOf).join(' or ')
  if (oneOf !== undefined) return 'one of the types below'
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'string') return 'a text'
  const kind = type === 'integer' ? 'a whole number' : 'a number'
  const highest = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`
  return minimum === undefined ? kind : `${kind} from ${minimum}${highest}`
}

function told(name: string, description: string | undefined): string {
  if (description === undefined) throw new Error(`the sandbox's ${name} has no description`)
  return description
}
