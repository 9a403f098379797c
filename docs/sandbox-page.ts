import { DEFAULT } from '../src/kinds/profiles/default/profile.ts'
import { z } from 'zod'
import { Fault } from '../src/sandbox/fault-types.ts'
import { FaultRule } from '../src/sandbox/faults.ts'
import { fixtureSchema } from '../src/sandbox/fixture.ts'
import { cell, code } from './table.ts'

/** docs/reference/sandbox.md: what the sandbox is told, from its schemas. */
export function sandboxPage(note: string): string {
  return `# The sandbox

${note}

A simulated platform that implements the interface and fails on request. Use it to see how Pipewright reacts, for example to a lost
reply, without an account and without risk. \`npm start\` (\`run --sandbox\`) runs it inside the process. \`pipewright sandbox\` runs it as a
separate server. Pipewright uses it only if you ask for it, and the log and the page say so. To begin:
[a lost reply](../tutorials/sandbox.md).

## Secrets

The credentials of the simulated platform are below \`.pipewright/credentials/\` (\`--credentials-dir\`), the secrets of sources below
\`.pipewright/secrets/\` (\`--secrets-dir\`): a folder for each, a file for each key. They are random, and no other machine knows them. The
start of \`run --sandbox\` or \`apply --sandbox\` writes each missing file that a manifest refers to; no other command does. Before the
first start, \`plan\` shows the effects of that start. With \`--profile clickhouse-cloud\`, the folder is \`.pipewright/clickhouse-cloud/\`
instead of \`.pipewright/\`, and the manifests are in \`examples/clickhouse-cloud\`.

**A new secret.** A running daemon makes up no secrets. If a \`secretRef\` names a missing file, its pipe is refused
(\`SecretUnavailable\`), and \`plan --sandbox\` says the same. Write the file with any content: the sandbox does not check the secrets of a
source. The pipe is then created. Or restart the daemon, which writes the file.

**To revoke a key**, overwrite its file. The daemon gets a 401 (\`AuthFailed\`) at its next request to the service, or immediately if you
ask for a check:

\`\`\`sh
echo revoked > .pipewright/credentials/commerce-api/keySecret
npx pipewright reconcile --sandbox
\`\`\`

\`plan\`, \`import\` and \`apply\` with \`--sandbox\` get the same 401, also after a restart.

**To restore the right key**, delete the file and restart the daemon: it writes the same key as before. You can also restore a copy of
the file while the daemon runs.

The sandbox remembers the right keys of services and the right token for alerts in \`.pipewright/sandbox.db\`, which only you can read. It
learns each at the first start with a manifest that needs it: the content of the file, or a random value. Later contents of the file do
not change it. If you add a service while the daemon runs, its key becomes right at the next start. A folder from an older version without
this memory is accepted as it is, once. Its credentials move out of \`.pipewright/secrets/\`. The sandbox also remembers your own keys in
another \`--credentials-dir\`, so do not name real keys.

## Faults

\`pipewright sandbox --faults FILE\` reads rules and a mix. \`POST /-/sandbox/faults\` takes the same as JSON at run time, and
\`"clear": true\` to remove all earlier ones.

\`\`\`yaml
rules: # a script: the first rule that fits a request and is not used up decides
  - operation: createPipe
    subject: orders
    fault: { type: cut-after }
  - operation: getPipe
    nth: 3
    times: always
    fault: { type: rate-limit, seconds: 5, header: retry-after }
mix: # by chance, the same for the same seed, for requests without a fitting rule
  seed: 7
  faults:
    - { probability: 0.1, fault: { type: latency, ms: 800 } }
    - { probability: 0.05, fault: { type: error-after, status: 503 } }
\`\`\`

| member of a rule | value | meaning |
|---|---|---|
${membersOf(FaultRule).join('\n')}

A mix has a \`seed\` and \`faults\`, each with its \`probability\`. The sum is at most 1.

| type | members | effect |
|---|---|---|
${faults().join('\n')}

## The first state

A fixture describes it: \`pipewright sandbox --world FILE\`. \`run --sandbox\` reads \`.sandbox.yaml\` in the manifests directory. The sandbox
creates each object once; later changes of it stay.

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

| member of a fixture | meaning |
|---|---|
${Object.entries(properties(fixtureSchema(DEFAULT)))
  .map(([name, { description }]) => `| ${code(name)} | ${cell(told(name, description))} |`)
  .join('\n')}

## Pipes that change

With the profile \`clickhouse-cloud\` (\`pipewright sandbox --profile clickhouse-cloud\`), the sandbox also updates, scales, configures,
starts, stops and deletes pipes. It is as strict and as slow as the service is known to be:

| request | behaviour |
|---|---|
| \`PATCH …/clickpipes/{id}\` | all or nothing: see below |
| \`PATCH …/scaling\` | for \`scalingLagMs\`, replies show 0 replicas and no other size |
| \`PUT …/settings\` | merges the settings; 404 for a database |
| \`PATCH …/state\` | the reply shows the previous state; each state on the way takes \`movingMs\` |
| \`DELETE …/clickpipes/{id}\` | the pipe exists for another \`deletingMs\`, refuses changes (409), and is then a 404 |

A \`PATCH\` of a pipe accepts \`settings\` and the fixed fields of a Kafka source without any effect. For a connection without its
credentials, the reply says that the source cannot be reached. Table mappings change only on a \`Paused\` pipe, which then starts
automatically. Starting a running pipe gives 400 \`already running\`.

If the state of its service is not \`running\`, no pipe is created or changed: 424, with the state at the end of the text. A fault
\`not-applied\` answers any request as if it was carried out. The sandbox does not keep credentials. \`credentialsRevision\` of a pipe in
\`GET /-/sandbox/state\` counts their changes.

## While it runs

These requests work only from the same machine. A body is JSON, with that content type.

| request | effect |
|---|---|
| \`GET /-/sandbox/state\` | all pipes, endpoints, alerts and requests, and services with a set state; no secrets |
| \`POST /-/sandbox/faults\` | \`{rules, mix, clear}\`: see above |
| \`POST /-/sandbox/vanish\` | \`{pipeId}\`: the pipe is gone |
| \`POST /-/sandbox/change\` | \`{pipeId, patch}\`: a change in the console, as a JSON merge patch |
| \`POST /-/sandbox/service\` | \`{organizationId, serviceId, state}\`: the service is idle, stopped or running; with the profile \`clickhouse-cloud\` |
| \`POST /-/sandbox/alert\` | \`{id, patch}\`: the alert is changed or created |
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
  const usual = shape.default === undefined ? '' : `, default ${code(String(shape.default))}`
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
