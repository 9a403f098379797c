import { expect, test } from 'vitest'
import {
  ALERT,
  alertManifest,
  ENDPOINT,
  furnish,
  pipeManifest,
  pipeThere,
  runArgs,
} from '../support/manifests.ts'
import { type Program, resourcesOf, startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startPlatform } from '../support/platform.ts'

/*
 * Law 8: a pass over an unchanged world writes nothing to the platform, and nothing to the log above debug. Here the
 * world is unchanged, and not well at all: each resource has a trouble of its own.
 */

const UNHEALTHY = '11111111-1111-4111-8111-111111111111'
const DRIFTED = '22222222-2222-4222-8222-222222222222'

const TROUBLES: Readonly<Record<string, string>> = {
  'Service/analytics': 'Ready',
  'QueryEndpoint/analytics': 'Ready',
  'Pipe/fine': 'Ready',
  'Pipe/unhealthy': 'NotReady',
  'Pipe/drifted': 'Drifted',
  'Pipe/lost': 'OutcomeUnknown',
  'Pipe/unreachable': 'Failed',
  'Pipe/suspended': 'Suspended',
  'Pipe/secretless': 'Refused',
  'Pipe/dependent': 'Refused',
  'Pipe/misspelt': 'Invalid',
  'Pipe/nowhere': 'Refused',
  'Alert/firing': 'NotReady',
  'Alert/nowhere': 'Failed',
  'Alert/unreachable': 'Failed',
}

/** Longer than the daemon gathers problems before it reports them. */
const REPORTED_MS = 3_000

function writeSet(workspace: Workspace): void {
  furnish(workspace)
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  const policies: Readonly<Record<string, string>> = {
    fine: '',
    unhealthy: `policy: {adopt: ${UNHEALTHY}, healthyStates: [Running]}`,
    drifted: `policy: {adopt: ${DRIFTED}}`,
    lost: '',
    unreachable: '',
    suspended: 'policy: {suspend: {reason: planned, until: 2099-01-01T00:00:00Z}}',
    secretless: '',
    dependent: 'policy: {dependsOn: [Alert/firing]}',
    misspelt: '',
    nowhere: 'policy: {adopt: 33333333-3333-4333-8333-333333333333}',
  }
  for (const [name, more] of Object.entries(policies)) {
    const text = pipeManifest(name, { more })
      .replace(name === 'secretless' ? 'name: kafka' : '\0', 'name: not-mounted')
      .replace(name === 'misspelt' ? 'scaling' : '\0', 'scalling')
    workspace.write(`manifests/${name}.yaml`, text)
  }
  const firing = alertManifest('firing', 'firing').replace('spec:', 'policy: {healthyStates: [OK]}\nspec:')
  workspace.write('manifests/alerts.yaml', firing)
  workspace.write('manifests/nowhere-alert.yaml', alertManifest('nowhere', 'not-there'))
  workspace.write('manifests/unreachable-alert.yaml', alertManifest('unreachable', 'unreachable'))
}

/** What a person would see in a log at its usual level. */
function told(program: Program): readonly string[] {
  return program
    .log()
    .filter(({ level }) => level !== 'debug' && level !== 'trace')
    .map((line) => JSON.stringify(line))
}

async function historyOf(url: string): Promise<number> {
  const reply = await fetch(`${url}/api/v1/history?limit=500`)
  const { items } = (await reply.json()) as { items: readonly unknown[] }
  return items.length
}

test('passes over a world that is unwell and unchanged tell nothing and write nothing', async () => {
  using workspace = createWorkspace()
  await using platform = await startPlatform({
    fixture: {
      alerts: [
        { ...ALERT, id: 'firing', state: 'ALERT' },
        { ...ALERT, id: 'unreachable' },
      ],
      pipes: [
        pipeThere(UNHEALTHY, 'unhealthy', { state: 'Failed' }),
        pipeThere(DRIFTED, 'drifted', { state: 'Running', scaling: { replicas: 7 } }),
      ],
    },
    faults: {
      rules: [
        { operation: 'createPipe', subject: 'lost', times: 'always', fault: { type: 'cut-after' } },
        {
          operation: 'getPipe',
          subject: 'unreachable',
          times: 'always',
          fault: { type: 'status', status: 503 },
        },
        { operation: 'getAlert', subject: 'unreachable', times: 'always', fault: { type: 'reset' } },
      ],
    },
  })
  writeSet(workspace)
  await using program = startProgram(
    runArgs(workspace, platform.url, ['--interval', '1s', '--log-level', 'debug']),
  )
  const url = await urlOf(program)
  await until('each resource to be in its own trouble', async () => {
    const items = await resourcesOf(url)
    return Object.entries(TROUBLES).every(([key, status]) =>
      items.some((item) => item.key === key && item.status === status),
    )
  }).catch(async (error: unknown) => {
    const items = await resourcesOf(url)
    throw new Error(items.map(({ key, status, message }) => `${key} ${status} ${message}`).join('\n'), {
      cause: error,
    })
  })
  const settledAt = Date.now()
  await until('the gathered problems to be reported', () =>
    program
      .log()
      .some(({ msg, time }) => msg === 'Reconciled' && Date.parse(String(time)) > settledAt + REPORTED_MS),
  )
  const [before, history] = [told(program), await historyOf(url)]
  const posts = () => platform.requests().filter(({ method }) => method === 'POST').length
  const [asked, posted] = [platform.requests().length, posts()]
  const passes = () =>
    program.log().filter((line) => line['msg'] === 'Reconciled' && line['key'] === 'Pipe/fine').length
  const passed = passes()
  await until('six more passes', () => passes() >= passed + 6)

  expect(told(program).slice(before.length)).toEqual([])
  expect(await historyOf(url)).toBe(history)
  expect(posts()).toBe(posted)
  expect(platform.requests().length).toBeGreaterThan(asked + 6)
})
