import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { mountCredential, runArgs } from '../support/manifests.ts'
import { resourcesOf, urlOf, type Program } from '../support/process.ts'
import { startHere } from '../support/program-here.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { secretRefsIn } from '../../src/kinds/secret-ref.ts'
import { alertsThere, desiredBody, FOLDER, GIVEN, secretText, wireBody } from './given.ts'
import { BASE, OPTIONS, TOKEN } from './ask.ts'
import { textOf } from './look.ts'
import { startStrictServer, type StrictHttp } from './strict-http.ts'
import type { Seen, StrictServer } from './strict-server.ts'

/** The alert of the service, as the folder names it. */
const ALERT = '66d0f1a2b3c4d5e6f7a8b9c2'

const manifests = GIVEN.filter(({ title }) => !title.startsWith('right/')).map(({ manifest }) => manifest)
const pipes = manifests.filter(({ kind }) => kind === 'Pipe')

function startService(): Promise<StrictServer & StrictHttp> {
  const [ofService = {}, ofHyperdx = {}] = alertsThere()
  return startStrictServer({
    ...OPTIONS,
    alerts: [ofService],
    hyperdx: { token: TOKEN, alerts: [ofHyperdx] },
  })
}

function mountAll(workspace: Workspace): void {
  mountCredential(workspace, 'warehouse-api', OPTIONS.key)
  workspace.write('credentials/alerts/token', TOKEN)
  for (const { path, ref } of pipes.flatMap((manifest) => secretRefsIn(desiredBody(manifest))))
    workspace.write(`secrets/${ref.name}/${ref.key}`, secretText(path))
}

/** With the folder as it is, and a look at everything every second. */
function startRun(workspace: Workspace, { url }: StrictHttp): Program {
  const more = ['--profile', 'clickhouse-cloud', '--interval', '1s']
  const args = runArgs(workspace, url, more).map((arg) => (arg === workspace.manifests ? FOLDER : arg))
  return startHere(args)
}

/** What the program says of a pipe in which it sees no drift. */
const AS_ASKED = 'The platform reports what the manifest asks for.'

function sorted(bodies: readonly JsonObject[]): readonly JsonObject[] {
  return bodies.toSorted((a, b) => (textOf(a['name']) < textOf(b['name']) ? -1 : 1))
}

function countOf(seen: readonly Seen[], method: string, path: string): number {
  return seen.filter((one) => one.method === method && one.path === path).length
}

test('the program makes every pipe of the folder once, as the facts ask for, and sees no drift ever after', async () => {
  using workspace = createWorkspace()
  mountAll(workspace)
  await using service = await startService()
  await using program = startRun(workspace, service)
  const url = await urlOf(program)
  await until(
    `all pipes to be listed three times after the last of them was made\n${program.stderr()}`,
    () => {
      const seen = service.seen()
      const last = seen.findLastIndex(
        ({ method, path }) => method === 'POST' && path === `${BASE}/clickpipes`,
      )
      const lists = countOf(seen.slice(last), 'GET', `${BASE}/clickpipes`)
      return service.pipes().size === pipes.length && lists >= 3
    },
  )
  const ready = await until('all of it to be ready', async () => {
    const shown = await resourcesOf(url)
    const left = shown.filter(({ status }) => status !== 'Ready').map(({ key }) => key)
    // the alert of HyperDX fires, as the folder has it
    return left.join() === 'Alert/checkout-latency' ? shown : undefined
  })
  expect(ready.filter(({ key, message }) => key.startsWith('Pipe/') && message !== AS_ASKED)).toEqual([])
  // that there is no endpoint yet is what the first look at it finds
  const unexpected = service
    .seen()
    .filter(({ refused }) => refused.length > 0 && refused.join() !== 'NOT_FOUND: endpoint')
  expect(unexpected).toEqual([])
  expect(pipes).toHaveLength(11)
  expect(countOf(service.seen(), 'POST', `${BASE}/clickpipes`)).toBe(pipes.length)
  expect(sorted([...service.pipes().values()])).toEqual(sorted(pipes.map(wireBody)))
  expect(countOf(service.seen(), 'GET', `${BASE}/clickstack/alerts/${ALERT}`)).toBeGreaterThan(0)
  expect(service.endpoint()).toEqual(
    manifests.filter(({ kind }) => kind === 'QueryEndpoint').map(wireBody)[0],
  )
})
