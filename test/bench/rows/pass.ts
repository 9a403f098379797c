import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { runChild, type Timed } from '../child.ts'
import { basicAuthorization, type Rig, UNLIMITED } from '../rig.ts'
import { inTurns, type Row } from '../row.ts'

/** How many requests at a time, on both sides. */
const CONCURRENCY = 8
/** So long nothing more may come when a pass is over. */
const QUIET_MS = 500

/** A full pass of the real daemon after a start, against a loop of undici over the same requests; as the platform sees both. */
export const pass = passRow({
  name: 'pass',
  what: 'full pass, all in sync, platform answers at once',
  latencyMs: 0,
  // The floor then only copies bytes: no program that checks and compares what it reads is within a quarter of that.
  heldFrom: Infinity,
})

/** The same where the platform takes a moment, as one behind a network does. */
export const passAway = passRow({
  name: 'pass-away',
  what: 'full pass, all in sync, platform answers after 5 ms',
  latencyMs: 5,
  heldFrom: 10_000,
})

function passRow({
  latencyMs,
  ...row
}: Pick<Row, 'name' | 'what' | 'heldFrom'> & { readonly latencyMs: number }): Row {
  return {
    ...row,
    floor: `a bare loop of undici, same requests, ${CONCURRENCY} at a time`,
    unit: 'ms',
    rule: { how: 'times', target: 1.25 },
    async measure(rig, run) {
      const [floor, subject] = await inTurns(
        run,
        () => bareLoop(rig, latencyMs),
        () => daemonPass(rig, latencyMs),
      )
      return {
        floor: floor.wallMs,
        subject: subject.wallMs,
        notes: {
          'CPU, times': subject.cpuMs / floor.cpuMs,
          'CPU a pipe, µs': (subject.cpuMs / rig.paths.length) * 1_000,
          'requests/s': (rig.paths.length / subject.wallMs) * 1_000,
        },
        faults: subject.faults,
      }
    },
  }
}

async function bareLoop({ platform, paths, work }: Rig, latencyMs: number): Promise<Timed> {
  const pathsFile = join(work, 'paths.json')
  writeFileSync(pathsFile, JSON.stringify(paths))
  await platform.reset({ latencyMs })
  const input = {
    url: platform.url,
    pathsFile,
    concurrency: CONCURRENCY,
    authorization: basicAuthorization(),
  }
  const { cpuMs } = await runChild<Timed>('floor-requests.ts', input)
  const { firstAt, lastAt } = await platform.saw()
  return { wallMs: lastAt - firstAt, cpuMs }
}

async function daemonPass(
  rig: Rig,
  latencyMs: number,
): Promise<Timed & { readonly faults: readonly string[] }> {
  const { platform, paths } = rig
  await platform.reset({ latencyMs })
  const daemon = await rig.daemon([
    '--api-budget',
    UNLIMITED,
    '--interval',
    '1h',
    '--concurrency',
    String(CONCURRENCY),
  ])
  await platform.untilSaw('a full pass', (saw) => saw.gets >= paths.length)
  const { firstAt, lastAt } = await platform.saw()
  await setTimeout(QUIET_MS)
  const saw = await platform.saw('paths')
  await daemon[Symbol.asyncDispose]()
  const faults: string[] = []
  if (saw.gets !== paths.length || saw.mostOfOne !== 1)
    faults.push(`${saw.gets} reads of ${paths.length} resources`)
  if (saw.posts > 0) faults.push(`${saw.posts} writes in a pass over what is in sync`)
  return { wallMs: lastAt - firstAt, cpuMs: daemon.cpuBetween(firstAt, lastAt), faults }
}
