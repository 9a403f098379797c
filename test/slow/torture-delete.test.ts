import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { FaultRuleInput } from '../../src/sandbox/fault-schema.ts'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import { mountSecrets } from '../support/manifests.ts'
import { resourcesOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { createRandom, type Random } from '../torture/random.ts'
import { createDaemons, SPEED, type Daemons } from './support/delete-daemons.ts'
import { faultsAtEnd } from './support/delete-end.ts'
import { judge, type Evidence, type Violation } from './support/delete-judge.ts'
import { work, type Allowance, type HandEdit } from './support/delete-person.ts'
import { DELETING_MS, deletionsIn, watchPipes } from './support/delete-pipes.ts'
import { createTree, type Tree, type Wish } from './support/delete-tree.ts'
import { startPlatformOf } from './support/matrix-profile.ts'

/*
 * A person removes, brings back, renames and edits manifests at random, and pipes by hand, while daemons are killed and the platform
 * misbehaves: no pipe goes that nobody asked to go. Time passes sixty times as fast. SEED=… repeats what is done, though not when
 * the machine does it. STORY=file keeps all that was done and said.
 */

const SEED = process.env['SEED'] ?? String(Math.floor(Math.random() * 1_000_000))
const STORM_MS = 45_000
const CALM_MS = 50_000
const GRACE_MS = 600_000 / SPEED

/** What the platform does wrong, by weight; a pipe is put into most of them. */
const FAULTS: readonly (readonly [number, FaultRuleInput])[] = [
  [3, { operation: 'deletePipe', fault: { type: 'cut-after' } }],
  [1, { operation: 'deletePipe', fault: { type: 'cut-before' } }],
  [2, { operation: 'deletePipe', fault: { type: 'status', status: 500 } }],
  [1, { operation: 'deletePipe', fault: { type: 'error-after', status: 500 } }],
  [2, { operation: 'deletePipe', fault: { type: 'status', status: 409 } }],
  [1, { operation: 'deletePipe', fault: { type: 'latency', ms: 600 } }],
  [4, { operation: 'getPipe', times: 2, fault: { type: 'status', status: 404 } }],
  [1, { operation: 'listPipes', fault: { type: 'status', status: 500 } }],
]

async function misbehave(platform: Sandbox, random: Random, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const rule = random.weighted(FAULTS)
    const pipes = platform.pipes()
    const isOfOne = rule.operation !== 'listPipes' && random.chance(0.7) && pipes.length > 0
    platform.faults.add(isOfOne ? { ...rule, subject: random.pick(pipes).id } : rule)
    await pause(random.between(200, 2_000))
  }
}

function wishesOf(random: Random): readonly Wish[] {
  return Array.from({ length: 20 + random.below(11) }, (_, index) => ({
    key: `p${index}`,
    pipe: `p${index}`,
    fixed: 0,
    replicas: 1,
    onRemove: random.chance(0.8) ? 'delete' : 'orphan',
    onImmutable: random.chance(0.5) ? 'replace' : 'report',
  }))
}

/** One more is removed, and stays so: by chance all others may have been brought back. */
function removeForGood(tree: Tree, platform: Sandbox, edits: readonly HandEdit[]): void {
  const pipes = platform.pipes().filter(({ id }) => edits.every((edit) => edit.id !== id))
  const last = [...tree.now.wishes.values()].find(
    ({ key, pipe, onRemove }) =>
      onRemove === 'delete' && key === pipe && pipes.filter(({ name }) => name === pipe).length === 1,
  )
  if (last !== undefined) tree.drop(`removed for good: ${last.key}`, last.key)
}

/** Waits until all is as it should be and something is deleted, and says what is not as it should be. */
async function calm(
  daemons: Daemons,
  about: { readonly platform: Sandbox; readonly evidence: Pick<Evidence, 'history'> },
  allow: () => Promise<void>,
): Promise<readonly string[]> {
  const life = await daemons.start()
  if (life === undefined) throw new Error('the last daemon did not start')
  const end = Date.now() + CALM_MS
  let faults: readonly string[] = ['nobody looked']
  const isNoneDeleted = () => deletionsIn(about.platform.requests()).length === 0
  while ((faults.length > 0 || isNoneDeleted()) && Date.now() < end) {
    await pause(1_000)
    const shown = await resourcesOf(life.url)
    const { lives } = daemons
    faults = faultsAtEnd({ ...about.evidence, lives, pipes: about.platform.pipes(), shown })
    if (shown.some(({ reason }) => reason === 'DeleteLimit')) await allow()
  }
  return faults
}

/** What was done and said about a pipe, in order. */
function storyOf(pipe: string, evidence: Evidence, since: number): readonly string[] {
  const ids = [...evidence.pipes.values()].filter(({ name }) => name === pipe).map(({ id }) => id)
  const lines = [
    ...evidence.history
      .filter(
        ({ what, isEmptied }) =>
          new RegExp(String.raw`\b${pipe}\b`).test(what) ||
          isEmptied ||
          /emptied|restored|spoiled/.test(what),
      )
      .map(({ at, what }) => ({ at, what })),
    ...evidence.requests.flatMap(({ at, seq, operation = '', path, answer, body }) => {
      const isIts =
        ids.some((id) => path.includes(id)) ||
        (operation === 'createPipe' && JSON.stringify(body).includes(`"${pipe}"`))
      return isIts
        ? [
            {
              at,
              what: `  request ${seq} ${operation} ${path.slice(-36)}: ${answer?.status} ${answer?.fault ?? ''}`,
            },
          ]
        : []
    }),
    ...evidence.edits
      .filter(({ id }) => ids.includes(id))
      .flatMap(({ at, id, isAskedFor, undoneAt }) => [
        { at, what: `edited by hand: ${id}, ${isAskedFor ? 'brokers' : 'settings'}` },
        ...(undoneAt === undefined ? [] : [{ at: undoneAt, what: `undone by hand: ${id}` }]),
      ]),
    ...evidence.allowances.map(({ at }) => ({ at, what: 'allow --deletions' })),
    ...evidence.lives.flatMap(({ from, until: to }, index) => [
      { at: from, what: `life ${index + 1} listens` },
      { at: to, what: `life ${index + 1} ends` },
    ]),
  ]
  return lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, what }) => `${((at - since) / 1_000).toFixed(2).padStart(7)} ${what}`)
}

test(`no pipe goes that nobody asked to go (SEED=${SEED})`, async () => {
  const random = createRandom(SEED)
  let since = Date.now()
  using workspace = createWorkspace()
  await using platform = await startPlatformOf('clickhouse-cloud', {
    deletingMs: DELETING_MS,
    listLagMs: 150,
  })
  using pipes = watchPipes(platform)
  mountSecrets(workspace)
  const tree = createTree(workspace)
  const daemons = createDaemons({ workspace, platform, random: random.stream('daemons'), since: () => since })
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => {
    for (const { program } of daemons.lives) await program[Symbol.asyncDispose]()
  })
  const edits: HandEdit[] = []
  const allowances: Allowance[] = []
  const allow = async () => {
    const life = daemons.lives.findLast(({ until: to }) => to === Infinity)
    if (life === undefined) return
    const at = Date.now()
    await daemons.allow(life)
    allowances.push({ at, until: Date.now() })
  }

  const wishes = wishesOf(random)
  tree.put('all are written', ...wishes)
  const first = await daemons.start(1)
  if (first === undefined) throw new Error('the first daemon did not start')
  await until('all pipes to be ready', async () => {
    const shown = await resourcesOf(first.url)
    return shown.filter(({ status }) => status === 'Ready').length > wishes.length
  })
  first.until = Date.now()
  await first.program[Symbol.asyncDispose]()
  since = Date.now()

  const stopping = new AbortController()
  const parts = { random: random.stream('person'), tree, platform, edits, allow }
  const storm = [
    work(parts, stopping.signal),
    misbehave(platform, random.stream('faults'), stopping.signal),
    daemons.torture(stopping.signal),
  ]
  await Promise.race([pause(STORM_MS), Promise.all(storm)])
  stopping.abort()
  await Promise.all(storm)
  platform.faults.clear()
  removeForGood(tree, platform, edits)
  const faults = await calm(daemons, { platform, evidence: tree }, allow)

  const evidence: Evidence = {
    requests: platform.requests(),
    pipes: pipes.all,
    history: tree.history,
    lives: daemons.lives,
    edits,
    allowances,
    graceMs: GRACE_MS,
  }
  const violations = judge(evidence)
  const deletions = deletionsIn(evidence.requests)
  const counts = `${wishes.length} pipes, ${tree.history.length} edits, ${edits.length} by hand, ${daemons.lives.length} lives, ${new Set(deletions.map(({ id }) => id)).size} deleted with ${deletions.length} requests, ${allowances.length} allowed`
  process.stdout.write(`SEED=${SEED}: ${counts}\n`)
  tell(violations, faults, evidence, { since, daemons })
  expect({ violations: violations.map(({ law, what }) => `${law}: ${what}`), faults }).toEqual({
    violations: [],
    faults: [],
  })
  expect(deletions).not.toEqual([])
})

function tell(
  violations: readonly Violation[],
  faults: readonly string[],
  evidence: Evidence,
  { since, daemons }: { readonly since: number; readonly daemons: Daemons },
): void {
  const file = process.env['STORY']
  if (file === undefined) return
  const about = new Set([
    ...violations.map(({ pipe }) => pipe),
    ...faults.map((fault) => fault.split(':')[0] ?? ''),
  ])
  appendFileSync(
    file,
    `SEED=${SEED}\n${[...violations.map(({ at, law, what }) => `${((at - since) / 1_000).toFixed(2)} ${law}: ${what}`), ...faults].join('\n')}\n`,
  )
  for (const pipe of about)
    appendFileSync(file, `--- ${pipe}\n${storyOf(pipe, evidence, since).join('\n')}\n`)
  for (const { number, program } of daemons.lives)
    appendFileSync(`${file}.logs`, `=== life ${number}\n${program.stdout()}\n${program.stderr()}\n`)
}
