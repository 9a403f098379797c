import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CREDENTIAL } from '../../support/manifests.ts'
import { ROOT } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import type { Container } from './image-container.ts'
import type { ImageRoot } from './image-root.ts'
import { wordsOf } from './runbook-commands.ts'
import { startPodWorld, type PodWorld } from './runbook-pod.ts'

/** An incident, solved in the pod with what its entry in the runbook says. It ends with what came of it. */
interface Incident {
  readonly what: string
  /** Values of the chart, on top of those of docs/operations.md. */
  readonly values?: object
  readonly walk: (world: PodWorld) => Promise<object>
  readonly ends: object
}

/** Commits are noticed within seconds, however busy the machine is: ms. */
const LIMIT_MS = 60_000

function pipes(prefix: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, '']))
}

/** Runs a line of the runbook in the container. */
async function typed(container: Container, line: string) {
  const { code, stdout, stderr } = await container.exec(wordsOf(line))
  return { code, said: stdout + stderr }
}

interface Shown {
  readonly key: string
  readonly status: string
  readonly reason: string
}

async function shown(container: Container): Promise<readonly Shown[]> {
  const { stdout, stderr } = await container.exec(['pipewright', 'status', '-o', 'json'])
  if (stdout === '') throw new Error(stderr)
  return (JSON.parse(stdout) as { resources: readonly Shown[] }).resources // what our own program prints
}

async function counts(container: Container, reason: string, count: number): Promise<void> {
  await until(
    `${count} resources to be ${reason}`,
    async () => (await shown(container)).filter((item) => item.reason === reason).length === count,
    LIMIT_MS,
  )
}

/** The pipes that are there, and no others, are well. */
async function allWell(container: Container, count: number): Promise<void> {
  let last: readonly Shown[] = []
  const wait = until(
    `${count} pipes to be well`,
    async () => {
      last = (await shown(container)).filter(({ key }) => key.startsWith('Pipe/'))
      return last.length === count && last.every(({ status }) => status === 'Ready')
    },
    LIMIT_MS,
  )
  await wait.catch((error: unknown) => {
    const others = last.filter(({ status }) => status !== 'Ready').slice(0, 5)
    throw new Error(`${last.length} pipes, and not well: ${JSON.stringify(others)}`, { cause: error })
  })
}

/** As git-sync asks, with the token in a URL and nothing more. */
async function webhook(container: Container): Promise<void> {
  const script =
    "const token = require('fs').readFileSync('/etc/pipewright/admin-token/token', 'utf8').trim();" +
    "fetch('http://127.0.0.1:8080/-/reconcile', {method: 'POST', headers: {authorization: 'Basic ' + btoa('git-sync:' + token)}})" +
    '.then((reply) => process.exit(reply.status === 202 ? 0 : 1))'
  const { code, stderr } = await container.exec(['node', '-e', script])
  if (code !== 0) throw new Error(`the webhook was not accepted: ${stderr}`)
}

/** The line of docs/operations.md that makes a backup while the daemon runs. */
function backupLine(): string {
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
  const [, script] =
    /kubectl -n data exec pipewright-0 -- \\\n\s+(node -e '[^\n]*backup[^\n]*')\n/.exec(page) ?? []
  if (script === undefined) throw new Error('docs/operations.md makes no backup')
  return script
}

async function unwanted(world: PodWorld): Promise<object> {
  const wanted = pipes('wanted', 18)
  world.commit(wanted)
  await using daemon = await world.startDaemon()
  await allWell(daemon, 18)
  world.commit({ ...wanted, ...pipes('extra', 300) })
  await webhook(daemon)
  await counts(daemon, 'CreateLimit', 300)
  const dry = await typed(daemon, 'pipewright allow --dry-run')

  // Not meant: the revert, and a commit after it.
  world.commit(wanted)
  await webhook(daemon)
  await allWell(daemon, 18)
  world.commit({ ...wanted, later: '' })
  await allWell(daemon, 19)
  const reverted = await world.creates()

  // Meant: more than the limit, beside the daemon.
  world.commit({ ...wanted, later: '', ...pipes('meant', 30) })
  await counts(daemon, 'CreateLimit', 30)
  const allowed = await typed(daemon, 'pipewright allow')
  await allWell(daemon, 49)

  // What exists is not given up by a webhook, but by a person.
  world.commit(pipes('wanted', 3))
  await webhook(daemon)
  await until('the reading to be refused', async () =>
    (await typed(daemon, 'pipewright status')).said.includes('lost 46 of 49'),
  )
  await webhook(daemon)
  const kept = (await shown(daemon)).filter(({ status }) => status === 'Orphaned').length
  await typed(daemon, 'pipewright reconcile --accept')
  await counts(daemon, 'Orphaned', 46)
  return {
    dry: /holds back 300 creations/.test(dry.said),
    reverted,
    allowed: allowed.code,
    kept,
    creates: await world.creates(),
  }
}

async function wrongKey(world: PodWorld): Promise<object> {
  const every = 'policy: {interval: 1s}'
  world.commit({ orders: every, refunds: every })
  await using daemon = await world.startDaemon()
  await allWell(daemon, 2)
  world.mountKey('planted-revoked-6b2')
  await counts(daemon, 'AuthFailed', 3)
  const { said } = await typed(daemon, 'pipewright status Service/analytics')
  world.mountKey(CREDENTIAL.keySecret)
  await allWell(daemon, 2)
  return { names: said.includes('analytics-api/keySecret'), creates: await world.creates() }
}

/** Starts the daemon, which ends at once. @returns its last words */
async function ends(world: PodWorld): Promise<{ readonly code: number; readonly said: string }> {
  await using daemon = await world.startOther(world.pod)
  const code = await daemon.ended
  return { code, said: daemon.stderr() }
}

async function lostLedger(world: PodWorld): Promise<object> {
  world.commit({ orders: '', refunds: '' })
  let lock = ''
  {
    await using first = await world.startDiagnostic()
    await typed(first, 'pipewright apply --ledger-init=auto')
    lock = (await first.exec(['pipewright', 'lock'])).stdout
  }
  for (const name of ['ledger.db', 'ledger.db.lock', 'ledger.db.reserve'])
    rmSync(join(world.ledger, name), { force: true })
  const { code, said } = await ends(world)
  await using pod = await world.startDiagnostic()
  const without = await typed(pod, 'pipewright plan')
  world.commit({ orders: '', refunds: '' }, { 'pipes.lock.yaml': lock })
  const withLock = await typed(pod, 'pipewright plan')
  await typed(pod, 'pipewright apply --ledger-init=auto')
  await using daemon = await world.startDaemon()
  await allWell(daemon, 2)
  return {
    code,
    leads: said.includes('pipewright plan'),
    without: without.said.includes('2 to create'),
    withLock: withLock.said.includes('2 to adopt') && !withLock.said.includes('to create'),
    creates: await world.creates(),
  }
}

async function backup(world: PodWorld): Promise<object> {
  world.commit({ orders: '', refunds: '' })
  {
    await using daemon = await world.startDaemon()
    await allWell(daemon, 2)
    const made = await typed(daemon, backupLine())
    if (made.code !== 0) throw new Error(made.said)
    world.commit({ orders: '', refunds: '', since: '' })
    await allWell(daemon, 3)
  }
  const saved = join(world.ledger, '..', 'ledger-2026-11-20.db')
  copyFileSync(join(world.ledger, 'backup.db'), saved)
  writeFileSync(join(world.ledger, 'ledger.db'), 'what a broken disk leaves')
  const { code, said } = await ends(world)

  await using pod = await world.startDiagnostic()
  const put = await pod.exec(['sh', '-c', 'cat > /var/lib/pipewright/restored.db'], saved)
  const moved = await typed(
    pod,
    "sh -c 'cd /var/lib/pipewright; mv ledger.db ledger.db.before; mv restored.db ledger.db'",
  )
  const planned = await typed(pod, 'pipewright plan')
  const adopted = await typed(pod, `pipewright adopt Pipe/since ${await world.pipeId('since')}`)
  await using daemon = await world.startDaemon()
  await allWell(daemon, 3)
  return {
    code,
    damaged: /is damaged|is not an SQLite file/.test(said),
    steps: [put.code, moved.code, adopted.code],
    planned: planned.said.includes('1 to create'),
    creates: await world.creates(),
  }
}

async function lostNode(world: PodWorld): Promise<object> {
  const rules = [{ operation: 'createPipe', subject: 'cut', fault: { type: 'hang', done: true } }]
  await world.ask('/-/sandbox/faults', { rules })
  world.commit({ orders: '' })
  const first = await world.startDaemon()
  await allWell(first, 1)
  world.commit({ orders: '', cut: '' })
  await until('the create to be on its way', async () => (await world.creates()) === 2, LIMIT_MS)
  // While the first may still run, the second is refused by the ledger.
  const second = await ends(world)
  await first.signal('SIGKILL')
  await first.ended
  await using daemon = await world.startDaemon()
  await counts(daemon, 'OutcomeUnknown', 1)
  const line = `pipewright resolve Pipe/cut --adopt ${await world.pipeId('cut')}`
  // Until the create would have ended, it says how long to wait.
  await until('the pipe to be adopted', async () => (await typed(daemon, line)).code === 0, LIMIT_MS)
  await allWell(daemon, 2)
  return {
    second: second.code,
    held: second.said.includes('is held by another pipewright'),
    creates: await world.creates(),
  }
}

export const INCIDENTS: readonly Incident[] = [
  {
    what: '300 unwanted pipes: the revert is believed, 30 wanted ones are allowed, and only a person gives up what exists',
    walk: unwanted,
    ends: { dry: true, reverted: 19, allowed: 0, kept: 0, creates: 49 },
  },
  {
    what: 'a key that does not work is replaced by one that does',
    walk: wrongKey,
    ends: { names: true, creates: 2 },
  },
  {
    what: 'the ledger is lost: it says so, and with a Lock all is taken over',
    values: { ledger: { init: 'never' } },
    walk: lostLedger,
    ends: { code: 1, leads: true, without: true, withLock: true, creates: 2 },
  },
  {
    what: 'the ledger is damaged: a backup is put back, and what was created since is adopted',
    walk: backup,
    ends: { code: 1, damaged: true, steps: [0, 0, 0], planned: true, creates: 3 },
  },
  {
    what: 'a node is lost in the middle of a create: no second daemon beside the first, and one after it',
    walk: lostNode,
    ends: { second: 1, held: true, creates: 2 },
  },
]

/** @returns what came of it, and how long it took: s */
export async function walkIncident(
  { values, walk }: Incident,
  image: ImageRoot,
  folder: string,
): Promise<{ readonly ended: object; readonly seconds: number }> {
  await using world = await startPodWorld(image, folder, values)
  const begun = performance.now()
  const ended = await walk(world)
  return { ended, seconds: (performance.now() - begun) / 1000 }
}
