import { isObject, stableJson, type Json, type JsonObject } from '../../../src/lib/json.ts'
import type { RecordedRequest } from '../../../src/sandbox/stored.ts'
import type { Run } from '../daemon.ts'
import type { Journal } from '../journal.ts'
import type { Parts } from '../storm.ts'
import type { Versions } from './versions.ts'
import { isOfDatabase, specOfWish, type Wish } from './wish.ts'

/*
 * The laws of changes, held against the log of the platform: nothing is deleted, nothing gets a value that no manifest in force says,
 * nothing is left stopped, nothing is added twice, and the budget is kept.
 */

export type ChangeEvidence = Pick<Parts, 'platform' | 'runner' | 'model' | 'scene' | 'journal'>

/** One request that changes a pipe. */
interface Sent {
  readonly request: RecordedRequest
  readonly name: string
  readonly body: JsonObject
  /** What may be in force when it arrived. */
  readonly wishes: readonly Wish[]
}

export function judgeChanges(evidence: ChangeEvidence): void {
  const { platform, model, journal } = evidence
  const log = platform.log.toSorted((a, b) => a.seq - b.seq)
  const sent = log.flatMap((request): readonly Sent[] => {
    const name = platform.names.get(/clickpipes\/([0-9a-f-]{36})/.exec(request.path)?.[1] ?? '')
    const body = request.body as Json | undefined // it was read from JSON
    if (name === undefined || body === undefined || !isObject(body)) return []
    return [{ request, name, body, wishes: model.versions.inForce(name, request.at) }]
  })
  for (const { operation, path } of log) {
    if (operation === 'deletePipe' || operation === 'deleteQueryEndpoint')
      journal.violate('deleted', `${operation} ${path}`)
  }
  for (const one of sent) judgeValues(one, evidence)
  for (const ofOne of Map.groupBy(sent, ({ name }) => name).values()) {
    judgeStarts(ofOne, journal)
    judgeAdds(ofOne, evidence)
  }
  judgeRest(evidence)
  judgeBudget(log, evidence)
}

function judgeValues(
  { request, name, body, wishes }: Sent,
  { model: { versions }, journal }: ChangeEvidence,
) {
  if (wishes.some((wish) => isOf(wish, { operation: request.operation, body, name, versions }))) return
  journal.violate(
    'wrong-change',
    `request ${request.seq} at ${new Date(request.at).toISOString()}: ${request.operation} with ${stableJson(body)}, which no manifest in force says: ${JSON.stringify(wishes)}`,
    name,
  )
}

/** Whether a manifest asks for what was sent. */
function isOf(
  wish: Wish,
  {
    operation,
    body,
    name,
    versions,
  }: Pick<Sent, 'body' | 'name'> & {
    readonly operation: RecordedRequest['operation']
    readonly versions: Versions
  },
): boolean {
  const spec = specOfWish(wish, { name, password: '' }) as unknown as JsonObject // it is made of JSON
  const all = versions.all(name)
  if (operation === 'scalePipe') return isWithin(body, spec['scaling'])
  if (operation === 'putPipeSettings') return isWithin(body, spec['settings'])
  if (operation === 'setPipeState') return isCommandOf(wish, body, all)
  if (operation !== 'updatePipe') return true
  const { source, ...rest } = body
  const fits = Object.entries(rest).every(([part, value]) => isWithin(value, spec[part]))
  return fits && isSourceOf(wish, objectOf(source), { spec, all })
}

/** A pipe of a database is stopped for its tables, and started again. */
function isCommandOf({ paused }: Wish, { command }: JsonObject, all: readonly Wish[]): boolean {
  const hasTables = new Set(all.map(({ tables }) => stableJson(tables))).size > 1
  return command === 'stop' ? paused === true || hasTables : paused !== true
}

function isSourceOf(
  wish: Wish,
  source: JsonObject,
  { spec, all }: { readonly spec: JsonObject; readonly all: readonly Wish[] },
): boolean {
  return Object.entries(source).every(([kind, part]) => {
    const { tableMappingsToAdd, tableMappingsToRemove, credentials, accessKey, ...fields } = objectOf(part)
    void [credentials, accessKey] // nobody sees them here
    const own = objectOf(objectOf(spec['source'])[kind])
    const mappings = listOf(own['tableMappings'])
    return (
      isWithin(fields, own) &&
      listOf(tableMappingsToAdd).every((item) =>
        mappings.some((mapping) => stableJson(mapping) === stableJson(item)),
      ) &&
      listOf(tableMappingsToRemove).every((item) => mayGo(wish, nameOf(objectOf(item)['sourceTable']), all))
    )
  })
}

/** It is in the manifest no more, or copied in another way. */
function mayGo({ tables }: Wish, name: string, all: readonly Wish[]): boolean {
  return !(name in tables) || all.some((other) => name in other.tables && other.tables[name] !== tables[name])
}

/** Whether every field of an object has the value that another one has there; lists are compared whole. */
function isWithin(value: Json | undefined, whole: Json | undefined): boolean {
  if (!isObject(value ?? null) || !isObject(whole ?? null))
    return stableJson(value ?? null) === stableJson(whole ?? null)
  const other = objectOf(whole)
  return Object.entries(objectOf(value)).every(([name, member]) => isWithin(member, other[name]))
}

function nameOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function objectOf(value: Json | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {}
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** What nobody here stopped, and no manifest asks to run, is not started. */
function judgeStarts(sent: readonly Sent[], journal: Journal): void {
  let isStoppedByUs = false
  for (const { request, name, body, wishes } of sent) {
    if (request.operation !== 'setPipeState') continue
    if (body['command'] === 'stop') isStoppedByUs = true
    if (body['command'] !== 'start') continue
    const isAsked = wishes.some(({ paused }) => paused === false)
    // One that is to be started again is started until it runs.
    if (isAsked || isStoppedByUs) continue
    journal.violate(
      'wrong-change',
      `request ${request.seq} starts it, which nobody here stopped and no manifest asks for`,
      name,
    )
  }
}

/** So long after a request its reply may not have been written down when its process was killed: ms. */
const WRITTEN_MS = 2_000

/** The service refuses to add a table twice: that is seen only after a lost reply. */
function judgeAdds(sent: readonly Sent[], { runner: { runs }, journal }: ChangeEvidence): void {
  for (const [index, { request, name, body }] of sent.entries()) {
    const { answer } = request
    const added = addsOf(body)
    if (request.operation !== 'updatePipe' || added === '[]') continue
    if (answer?.status !== 400 || answer.fault !== undefined) continue
    const before = sent
      .slice(0, index)
      .findLast((other) => other.request.answer?.done === true && addsOf(other.body) === added)
    if (before === undefined || isLost(before.request, runs)) continue
    journal.violate(
      'wrong-change',
      `request ${request.seq} adds ${added} again, which request ${before.request.seq} did and was answered`,
      name,
    )
  }
}

function addsOf(body: JsonObject): string {
  const parts = Object.values(objectOf(body['source']))
  return stableJson(parts.flatMap((part) => listOf(objectOf(part)['tableMappingsToAdd'])))
}

function isLost({ answer, at }: RecordedRequest, runs: readonly Run[]): boolean {
  const isAnswered = answer?.status === 200 && (answer.fault === undefined || answer.fault === 'latency')
  return !isAnswered || runs.some(({ endedAt = Infinity }) => at <= endedAt && endedAt < at + WRITTEN_MS)
}

const AT_REST: readonly string[] = ['Stopped', 'Paused', 'Stopping', 'Pausing']

/** In the end nothing is stopped that no manifest wants stopped. */
function judgeRest({ platform, model: { lineages }, journal }: ChangeEvidence): void {
  const alive = platform.alive()
  for (const { platformName, wish } of lineages) {
    for (const { id, state } of alive.get(platformName) ?? []) {
      if (wish === undefined || wish.paused === true || !AT_REST.includes(state)) continue
      const of = isOfDatabase(wish) ? 'a database' : 'a stream'
      journal.violate('left-stopped', `pipe ${id} of ${of} is ${state}`, platformName)
    }
  }
}

/** Between sending and arrival a busy machine takes its time: ms. */
const JITTER_MS = 1_000

/** No process sends more with an API key than its budget says. Commands beside it have their own. */
function judgeBudget(
  log: readonly RecordedRequest[],
  { runner: { runs, commands }, scene: { budget }, journal }: ChangeEvidence,
): void {
  const windowMs = budget.windowMs - JITTER_MS
  for (const run of runs) {
    const own = log.filter(({ at }) => run.startedAt <= at && at <= (run.endedAt ?? Infinity))
    for (const [credential, requests] of Map.groupBy(own, ({ credential: who }) => who)) {
      if (credential === undefined) continue
      const times = requests.map(({ at }) => at)
      const late = times.find((at, index) => {
        const first = times[index - budget.count]
        const isBeside = commands.some(({ from, to }) => from <= at && at - windowMs <= to)
        return first !== undefined && at - first < windowMs && !isBeside
      })
      if (late === undefined) continue
      journal.violate(
        'budget',
        `run ${run.number} sent more than ${budget.count} requests with ${credential} in ${budget.windowMs} ms, until ${new Date(late).toISOString()}`,
      )
    }
  }
}
