import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEdits } from './edits.ts'
import { faultsOfCreates, lagOf, mixOf } from './faults.ts'
import { finale } from './finale.ts'
import { createJournal } from './journal.ts'
import { createKiller } from './killer.ts'
import { createLeaks } from './leaks.ts'
import { createLedgerView } from './ledger-view.ts'
import { createModel } from './model.ts'
import { type Options, readOptions } from './options.ts'
import { judgeMissing, judgePosts, judgeUnknown } from './judge.ts'
import { createOutages } from './outages.ts'
import { createPerson } from './person.ts'
import { startPlatform } from './platform.ts'
import { createRandom } from './random.ts'
import { sceneOf } from './scene.ts'
import { faultsOfChanges } from './cloud/faults.ts'
import { type Report, reportAsText, reportOf, timelineOf } from './report.ts'
import { createRunner } from './daemon.ts'
import { type Parts, storm } from './storm.ts'
import { createTree } from './tree.ts'
import { judgeChanges } from './cloud/judge.ts'
import { createMounts } from './world.ts'

/*
 * `npm run torture -- --minutes N --seed S [--profile NAME] [--steps N] [--manifests 200] [--json FILE]`: the real program against the
 * sandbox, under random faults, kills and edits, all by one seed; then the books are held against each other.
 */

/** @returns the report, and whether no law was broken */
async function torture(options: Options, dir: string, signal: AbortSignal): Promise<Report> {
  const startedAt = Date.now()
  await using stack = new AsyncDisposableStack()
  const random = createRandom(options.seed)
  const scene = sceneOf(options.profile)
  const journal = createJournal()
  const leaks = createLeaks(journal)
  await mkdir(join(dir, 'logs'))
  const platform = stack.use(await startPlatform(join(dir, 'platform.db'), scene))
  const mounts = await createMounts(dir, leaks)
  const tree = await createTree(dir, random.stream('tree'))
  const model = createModel(random.stream('model'), scene)
  const ledgerFile = join(dir, 'ledger.db')
  const ledger = createLedgerView(ledgerFile)
  const runner = createRunner({
    dir,
    manifests: tree.path,
    mounted: mounts.path,
    ledger: ledgerFile,
    platformUrl: platform.sandbox.url,
    leaks,
    scene,
    onBug(run, log) {
      const line = log.split('\n').find((text) => text.includes('"msg":"Internal error"'))
      journal.violate('process', `run ${run} found a bug: ${line}`)
    },
  })
  stack.defer(() => killer.run?.kill('SIGKILL'))
  const person = createPerson({ scene, model, platform, runner, journal, random: random.stream('person') })
  const outages = createOutages({
    sandbox: platform.sandbox,
    journal,
    random: random.stream('outages'),
    scene,
    pipes: () => model.lineages,
  })
  stack.defer(() => outages.end())
  const killer = createKiller({
    runner,
    journal,
    ledger,
    random: random.stream('kills'),
    scene,
    lastCreateAt() {
      platform.drain()
      return scene.changes ? platform.lastWriteAt : platform.lastCreateAt
    },
  })
  const faultRandom = random.stream('faults')
  const lagRandom = random.stream('lag')
  const changeRandom = random.stream('faults of changes')
  const misbehave = (platformName: string) =>
    platform.sandbox.faults.add(
      ...faultsOfCreates(faultRandom, platformName),
      ...lagOf(lagRandom, platformName, scene),
      ...(scene.changes ? faultsOfChanges(changeRandom, platformName) : []),
    )
  const edits = createEdits({
    model,
    journal,
    random: random.stream('edits'),
    manifests: options.manifests,
    onNew: ({ platformName }) => misbehave(platformName),
  })
  const vanishings: Parts['vanishings'] = []
  const losses: number[] = []
  const parts: Parts = {
    scene,
    random: random.stream('storm'),
    journal,
    leaks,
    model,
    edits,
    tree,
    mounts,
    platform,
    runner,
    killer,
    ledger,
    person,
    vanishings,
    losses,
    outages,
    exclusive: createExclusive(),
    signal,
  }

  platform.sandbox.faults.mix(mixOf(faultRandom))
  while (model.lineages.length < options.manifests) {
    misbehave(model.add().platformName)
  }
  await tree.apply(model.takeChanges())
  const end = { at: startedAt + options.minutes * 60_000, afterSteps: options.steps ?? Infinity }
  await storm(parts, startedAt, end)
  const ending = await finale(parts)

  platform.drain()
  ledger.drain()
  const duplicates = judgePosts(parts)
  judgeMissing(parts)
  const unknown = judgeUnknown(parts)
  if (scene.changes) judgeChanges(parts)
  const report = reportOf(parts, { options, startedAt, duplicates, unknown, finale: ending })
  print(reportAsText(report))
  const subjects = new Set(report.violations.flatMap(({ subject }) => subject ?? []))
  for (const subject of [...subjects].slice(0, 5)) {
    print(`\nHistory of ${subject}, seed ${options.seed}:\n${timelineOf(parts, subject)}`)
  }
  return report
}

function createExclusive(): Parts['exclusive'] {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
const options = readOptions(process.argv.slice(2))
const dir = await mkdtemp(join(tmpdir(), 'pipewright-torture-'))
print(`torture of ${options.minutes} min with seed ${options.seed}, profile ${options.profile}, in ${dir}`)
const report = await torture(options, dir, stop.signal)
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, undefined, 2)}\n`)
if (report.violations.length === 0) await rm(dir, { recursive: true, force: true })
else {
  print(
    `\nTo see it again: npm run torture -- --profile ${options.profile} --minutes ${options.minutes}${options.steps === undefined ? '' : ` --steps ${options.steps}`} --manifests ${options.manifests} --seed ${options.seed}\nLogs, ledger and platform are kept in ${dir}`,
  )
  process.exitCode = 1
}
