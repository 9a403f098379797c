import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DELETE_FAILPOINTS } from '../../src/contract/failpoint.ts'
import { resourcesOf, startProgram, urlOf, type Program } from '../support/process.ts'
import { mountSecrets, runArgs, SERVICE } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { endOf } from './support/end-of.ts'
import { recordOf } from './support/ledger.ts'
import { manifestOf, startPlatformOf } from './support/matrix-profile.ts'

/*
 * The process is killed around a deletion, and another one comes after it: for a pipe whose manifest still asks for it, was taken
 * back, or is gone meanwhile. Time passes sixty times as fast.
 */

const CLOCKS = new URL('clock-shift.ts', import.meta.url).href
const FASTER = { NODE_OPTIONS: `--import=${CLOCKS}`, CLOCK_SPEED: '60', CLOCK_SINCE: String(Date.now()) }
const FILE = 'manifests/orders.yaml'
const KEY = 'Pipe/orders'
const MANIFEST = manifestOf('clickhouse-cloud', 'orders')
const UNWANTED = MANIFEST.replace('spec:', 'policy: {ensure: absent}\nspec:')

const CELLS = DELETE_FAILPOINTS.flatMap((at) =>
  (['there', 'back', 'gone'] as const).map((manifest) => ({ at, manifest })),
)

type Platform = Awaited<ReturnType<typeof startPlatformOf>>

function start(
  place: { readonly workspace: Workspace; readonly platform: Platform },
  failpoint?: string,
): Program {
  const args = ['--profile', 'clickhouse-cloud', '--log-level', 'debug']
  const env = { ...FASTER, ...(failpoint !== undefined && { PIPEWRIGHT_FAILPOINT: failpoint }) }
  return startProgram(runArgs(place.workspace, place.platform.url, args), { env })
}

async function shown(program: Program) {
  return (await resourcesOf(await urlOf(program))).find(({ key }) => key === KEY)
}

async function isReady(program: Program): Promise<boolean> {
  return (await shown(program))?.status === 'Ready'
}

/** Waits for it, and says what the program said when it waited in vain. */
async function waited(program: Program, what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  try {
    await until(what, isSo, 120_000)
  } catch (error) {
    throw new Error(`${program.stdout()}\n${program.stderr()}`, { cause: error })
  }
}

async function ends(program: Program): Promise<void> {
  program.signal('SIGTERM')
  await endOf(program)
}

/** A pipe that was made and seen in sync, and a process that is killed while it deletes it, because its manifest asks for that. */
async function killed(
  place: { readonly workspace: Workspace; readonly platform: Platform },
  failpoint: string,
): Promise<void> {
  const { workspace } = place
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  workspace.write(FILE, MANIFEST)
  {
    await using first = start(place)
    await waited(first, 'the pipe to be seen in sync', async () => {
      return isReady(first)
    })
    await ends(first)
  }
  workspace.write(FILE, UNWANTED)
  await using second = start(place, failpoint)
  expect(await second.ended, second.stderr()).toBe('SIGKILL')
}

describe.concurrent('the crash matrix of deletions', () => {
  test.each(CELLS)('kill $at, and the manifest is $manifest', async ({ at, manifest }) => {
    using workspace = createWorkspace()
    await using platform = await startPlatformOf('clickhouse-cloud')
    const place = { workspace, platform }
    await killed(place, `${at}=kill`)
    if (manifest === 'back') workspace.write(FILE, MANIFEST)
    if (manifest === 'gone') rmSync(workspace.path(FILE))
    const isSent = at === 'after-delete'
    await using last = start(place)
    if (manifest === 'back')
      await waited(last, 'the pipe to be there', async () => {
        const isMarked = (await recordOf(workspace, KEY))?.removal !== undefined
        return !isMarked && (await isReady(last))
      })
    else if (manifest === 'there')
      await waited(last, 'the pipe to be absent', async () => (await shown(last))?.status === 'Absent')
    else
      await waited(last, 'the pipe to be an orphan, or forgotten', async () =>
        isSent ? (await recordOf(workspace, KEY)) === undefined : (await shown(last))?.status === 'Orphaned',
      )
    await ends(last)
    const writes = platform
      .requests()
      .flatMap(({ operation = '' }) => (/^(get|list)/.test(operation) ? [] : [operation]))
    const pipes = platform.pipes().map(({ name }) => name)
    const isDeleted = isSent || manifest === 'there'
    const isThere = manifest === 'back' || !isDeleted
    const creates = writes.filter((operation) => operation === 'createPipe').length
    expect({ pipes, creates }).toEqual({
      pipes: isThere ? ['orders'] : [],
      creates: manifest === 'back' && isSent ? 2 : 1,
    })
    expect(writes.includes('deletePipe')).toBe(isDeleted)
  })
})
