import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CREDENTIAL } from '../../support/manifests.ts'
import { until } from '../../support/until.ts'
import type { ImageRoot } from './image-root.ts'
import { startPodWorld, type PodWorld } from './runbook-pod.ts'
import {
  allWell,
  asWritten,
  backupLine,
  counts,
  ends,
  pipes,
  shown,
  typed,
  webhook,
} from './runbook-steps.ts'

/** An incident, solved in the pod with what its entry in the runbook says. It ends with what came of it. */
interface Incident {
  readonly what: string
  /** Values of the chart, on top of those of docs/tutorials/kubernetes.md. */
  readonly values?: object
  readonly walk: (world: PodWorld) => Promise<object>
  readonly ends: object
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
  const shownLine = (await typed(daemon, 'pipewright allow --dry-run')).said
  const exact = /pipewright allow --count [^"]*/.exec(shownLine)?.[0] ?? 'false'
  world.commit({ ...wanted, later: '', ...pipes('meant', 30), between: '' })
  await counts(daemon, 'CreateLimit', 31)
  const changed = await typed(daemon, exact)
  world.commit({ ...wanted, later: '', ...pipes('meant', 30) })
  await counts(daemon, 'CreateLimit', 30)
  const allowed = await typed(daemon, exact)
  const twice = await typed(daemon, exact)
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
    dry: /blocks 300 creations/.test(dry.said),
    reverted,
    allowed: [changed.code, allowed.code],
    twice: twice.said.includes('blocks no resource now'),
    kept,
    creates: await world.creates(),
  }
}

async function revertedLate(world: PodWorld): Promise<object> {
  const wanted = pipes('wanted', 5)
  world.commit(wanted)
  await using daemon = await world.startDaemon()
  await allWell(daemon, 5)
  world.commit({ ...wanted, ...pipes('extra', 100) })
  await counts(daemon, 'CreateLimit', 100)
  await typed(daemon, 'pipewright allow')
  await until('some to be created', async () => (await world.creates()) > 10)
  world.commit(wanted)
  await until('the reading to be refused', async () =>
    (await typed(daemon, 'pipewright status')).said.includes('manifests of created resources'),
  )
  await typed(daemon, 'pipewright reconcile --accept')
  await until('nothing to be left but what exists', async () => {
    const reasons = (await shown(daemon)).map(({ reason }) => reason)
    return reasons.every((reason) => ['InSync', 'InSync', 'Orphaned'].includes(reason))
  })
  const orphans = (await shown(daemon)).filter(({ reason }) => reason === 'Orphaned').length
  const creates = await world.creates()
  return { all: creates === 5 + orphans, fewer: creates < 80 }
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
  // In the wrong order, before the Lock: it creates nothing.
  await typed(pod, 'pipewright apply --ledger-init=auto --max-creates=0')
  world.commit({ orders: '', refunds: '' }, { 'pipes.lock.yaml': lock })
  const withLock = await typed(pod, 'pipewright plan')
  await typed(pod, 'pipewright apply --ledger-init=auto --max-creates=0')
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

const DAMAGED = 'what a broken disk leaves'

async function backup(world: PodWorld): Promise<object> {
  world.commit({ orders: '', refunds: '' })
  {
    await using daemon = await world.startDaemon()
    await allWell(daemon, 2)
    for (const made of [await typed(daemon, backupLine()), await typed(daemon, backupLine())])
      if (made.code !== 0) throw new Error(made.said)
    world.commit({ orders: '', refunds: '', since: '' })
    await allWell(daemon, 3)
    // Whoever forgot diagnostic mode changes nothing under the daemon.
    copyFileSync(join(world.ledger, 'backup.db'), join(world.ledger, 'restored.db'))
    const early = [await asWritten(daemon, 'mv restored.db'), await asWritten(daemon, '.damaged')]
    if (early.some((one) => one.code !== 1 || !one.said.includes('a daemon runs here')))
      throw new Error(`the ledger of a daemon was moved: ${JSON.stringify(early)}`)
    rmSync(join(world.ledger, 'restored.db'))
    await allWell(daemon, 3)
  }
  const saved = join(world.ledger, '..', 'ledger-2026-11-20.db')
  copyFileSync(join(world.ledger, 'backup.db'), saved)
  writeFileSync(join(world.ledger, 'ledger.db'), DAMAGED)
  const { code, said } = await ends(world)

  await using pod = await world.startDiagnostic()
  const put = await pod.exec(['sh', '-c', 'cat > /var/lib/pipewright/restored.db'], saved)
  const moved = await asWritten(pod, 'mv restored.db')
  const again = await asWritten(pod, 'mv restored.db')
  const before = readFileSync(join(world.ledger, 'ledger.db.before'), 'utf8')
  const planned = await typed(pod, 'pipewright plan')
  const adopted = await typed(pod, `pipewright adopt Pipe/since ${await world.pipeId('since')}`)
  await using daemon = await world.startDaemon()
  await allWell(daemon, 3)
  return {
    code,
    damaged: /is damaged|is not an SQLite file/.test(said),
    steps: [put.code, moved.code, again.code, adopted.code],
    kept: before === DAMAGED,
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
  await until('the create to be on its way', async () => (await world.creates()) === 2)
  // While the first may still run, the second is refused by the ledger.
  const second = await ends(world)
  await first.signal('SIGKILL')
  await first.ended
  await using daemon = await world.startDaemon()
  await counts(daemon, 'OutcomeUnknown', 1)
  const line = `pipewright resolve Pipe/cut --adopt ${await world.pipeId('cut')}`
  // Until the create would have ended, it says how long to wait.
  await until('the pipe to be adopted', async () => (await typed(daemon, line)).code === 0)
  await allWell(daemon, 2)
  return {
    second: second.code,
    held: second.said.includes('another process owns the ledger'),
    creates: await world.creates(),
  }
}

export const INCIDENTS: readonly Incident[] = [
  {
    what: '300 unwanted pipes: the revert is believed, 30 wanted ones are allowed, and only a person gives up what exists',
    walk: unwanted,
    ends: { dry: true, reverted: 19, allowed: [1, 0], twice: true, kept: 0, creates: 49 },
  },
  {
    what: 'unwanted pipes that were allowed are reverted: no more of them are made, and those that were are orphans',
    values: { settings: { 'api-budget': '10/2s' } },
    walk: revertedLate,
    ends: { all: true, fewer: true },
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
    ends: { code: 1, damaged: true, steps: [0, 0, 1, 0], kept: true, planned: true, creates: 3 },
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
