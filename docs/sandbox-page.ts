import { z } from 'zod'
import { Fault, FaultRule } from '../src/sandbox/fault-schema.ts'
import { Fixture } from '../src/sandbox/fixture.ts'
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
${Object.entries(properties(Fixture))
  .map(([name, { description }]) => `| ${code(name)} | ${cell(told(name, description))} |`)
  .join('\n')}

## While it runs

Only from the same machine; a body is JSON, with that content type.

| request | what it does |
|---|---|
| \`GET /-/sandbox/state\` | all pipes, endpoints and alerts, and every request so far, without secrets |
| \`POST /-/sandbox/faults\` | \`{rules, mix, clear}\`: see above |
| \`POST /-/sandbox/vanish\` | \`{pipeId}\`: the pipe is gone |
| \`POST /-/sandbox/change\` | \`{pipeId, patch}\`: somebody changes the pipe in the console; a JSON merge patch |
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
