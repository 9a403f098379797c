import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { bundle } from '../../build.ts'
import { CREATE_FAILPOINTS, type Failpoint } from '../../src/contract/failpoint.ts'
import { CREDENTIAL, mountSecrets, runArgs, SERVICE, SERVICE_ID } from '../support/manifests.ts'
import { resourcesOf, ROOT, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { copyOf, type Checkout } from './protections/checkout.ts'
import { createFakePlatform, type Reply } from './support/fake-platform.ts'

/*
 * A kind is a folder: `View` of test/kinds/view and one line in the registry make a program that creates views, once each,
 * wherever it is killed.
 */

const FOLDER = ['kind.ts', 'schema.ts']

const VIEW = `apiVersion: pipewright/v1
kind: View
metadata: {name: totals}
spec:
  service: analytics
  query: select 1
  origin: {host: db.example, credentials: {username: reader, password: {secretRef: {name: kafka, key: password}}}}
`

let checkout: Checkout
/** The program with the kind, in one file: it is started many times. */
let main = ''

beforeAll(async () => {
  checkout = copyOf([
    {
      from: 'KINDS: readonly Kind[] = [SERVICE, PIPE, QUERY_ENDPOINT, ALERT]',
      to: 'KINDS: readonly Kind[] = [SERVICE, PIPE, QUERY_ENDPOINT, ALERT, VIEW]',
      below: `import { VIEW } from './view/kind.ts'`,
    },
  ])
  cpSync(join(ROOT, 'test/kinds/view'), join(checkout.dir, 'src/kinds/view'), { recursive: true })
  for (const file of FOLDER) {
    const path = join(checkout.dir, 'src/kinds/view', file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('../../../src/kinds/', '../'))
  }
  main = join(checkout.dir, 'pipewright.js')
  const { code } = await bundle(checkout.main)
  writeFileSync(main, code)
  cpSync(join(checkout.dir, 'src/server/page'), join(checkout.dir, 'page'), { recursive: true })
})

afterAll(() => checkout[Symbol.dispose]())

test('the program with it has the right types', ({ expect }) => {
  const config = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object // ours
  const path = join(checkout.dir, 'tsconfig.json')
  writeFileSync(path, JSON.stringify({ ...config, include: ['src/main.ts', 'src/kinds/**/*.ts'] }))
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--project', path])
  expect([String(stdout), status]).toEqual(['', 0])
})

/** What the ledger says, as the program with the kind reads it: this one does not know the kind. */
function lockOf(workspace: Workspace) {
  const ledger = `sqlite:${workspace.path('ledger.db')}`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [main, 'lock', '--ledger', ledger, '--output', 'json'],
    { encoding: 'utf8' },
  )
  const { spec } = JSON.parse(stdout) as { spec: { pipes: Record<string, string> } }
  return { ids: spec.pipes, stderr }
}

/** How the create is answered, and what the process that comes after a kill may know. */
const REPLIES = {
  whole: {},
  'cut after the work': { work: true, sends: 'nothing', ends: 'reset' },
  'half a body': { work: true, sends: 40 },
} as const satisfies Readonly<Record<string, Reply>>

type ReplyName = keyof typeof REPLIES

/** Whether the process comes by there at all, when it is answered like that. */
function isReached(at: Failpoint, reply: ReplyName): boolean {
  if (reply === 'whole') return true
  if (at === 'after-reply-head') return reply === 'half a body'
  return !['after-reply-body', 'before-id', 'after-id'].includes(at)
}

const CELLS = CREATE_FAILPOINTS.flatMap((at) =>
  (Object.keys(REPLIES) as readonly ReplyName[]) // the keys of the object above
    .filter((reply) => isReached(at, reply))
    .map((reply) => ({ at, reply })),
)

describe.concurrent('a view', () => {
  test.for(CELLS)(
    'killed $at, the reply: $reply: one POST, and no lost id',
    async ({ at, reply }, { expect }) => {
      using workspace = createWorkspace()
      await using platform = await createFakePlatform({
        services: [{ serviceId: SERVICE_ID, keyIds: [CREDENTIAL.keyId] }],
      })
      mountSecrets(workspace)
      workspace.write('manifests/service.yaml', SERVICE)
      workspace.write('manifests/totals.yaml', VIEW)
      platform.decide = ({ operation }) => (operation === 'createPipe' ? REPLIES[reply] : undefined)
      const options = { main, env: { NODE_COMPILE_CACHE: checkout.cache } }
      {
        const env = { ...options.env, PIPEWRIGHT_FAILPOINT: `${at}=kill` }
        await using program = startProgram(runArgs(workspace, platform.url), { ...options, env })
        expect(await program.ended, program.stderr()).toBe('SIGKILL')
      }
      const sent = platform.posts().length
      platform.decide = () => undefined
      await using program = startProgram(runArgs(workspace, platform.url), options)
      const url = await urlOf(program)
      const shown = await until('the view to settle', async () =>
        (await resourcesOf(url)).find(
          ({ key, status }) => key === 'View/totals' && (status === 'Ready' || status === 'OutcomeUnknown'),
        ),
      )
      program.signal('SIGTERM')
      await program.ended
      const made = platform.world.named('totals').map(({ id, collection }) => [collection, id])
      expect(platform.posts().length, 'creates').toBeLessThanOrEqual(1)
      if (sent === 1) expect(platform.posts()).toHaveLength(1)
      const { ids, stderr } = lockOf(workspace)
      if (shown.status === 'Ready') expect(made).toEqual([['views', ids['View/totals']]])
      else
        expect(stderr).toContain('View/totals is not in the Lock: whether its view was created is not known')
    },
  )
})
