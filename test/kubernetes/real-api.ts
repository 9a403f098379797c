import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, request as send } from 'undici'
import { afterAll, beforeAll } from 'vitest'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/lib/json.ts'
import { ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/** The API of a Kubernetes cluster, with the chart's definition of records, and nothing behind it: no pod ever runs. */
export interface RealApi extends AsyncDisposable {
  readonly url: string
  /** It may do everything. */
  readonly token: string
  /** File of the authority that signed its certificate. */
  readonly ca: string
  /** File, with that token. */
  readonly kubeconfig: string
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer>
  /** Keeps a copy of all that is stored. */
  save(): Promise<void>
  /** Puts all of it back to that copy. */
  back(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: JsonObject
}

/** Until it is there: ms. The programs are built where they were not yet. */
export const REAL_API_LIMIT_MS = 30 * 60_000

const SCRIPT = join(ROOT, 'test/kubernetes/start-kube.sh')
const DEFINITION = join(ROOT, 'helm/crds/pipewrightrecords.yaml')
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Starts it, and a folder, for all tests of a file. */
export function withRealApi(use: (api: RealApi, workspace: Workspace) => unknown): void {
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    const workspace = stack.use(createWorkspace())
    await use(stack.use(await startRealApi()), workspace)
  }, REAL_API_LIMIT_MS)
  afterAll(() => stack.disposeAsync())
}

async function script(...words: readonly string[]): Promise<void> {
  await promisify(execFile)(SCRIPT, [...words], { timeout: REAL_API_LIMIT_MS })
}

export async function startRealApi(): Promise<RealApi> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(createWorkspace()).path('kube')
  stack.defer(() => script('down', folder))
  // However this process ends, the API ends with it.
  await script('up', folder, String(process.pid))
  const said = await readFile(join(folder, 'env'), 'utf8')
  const member = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(said)?.[1] ?? ''
  const [url, token, ca] = [member('KUBE_SERVER'), member('KUBE_TOKEN'), member('KUBE_CA')]
  const agent = new Agent({ connect: { ca: await readFile(ca, 'utf8') } })
  stack.defer(() => agent.destroy())

  async function request(...[method, path, body]: Parameters<RealApi['request']>): Promise<Answer> {
    const reply = await send(`${url}${path}`, {
      dispatcher: agent,
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { status: reply.statusCode, body: (await reply.body.json()) as JsonObject } // every answer of it is an object
  }

  const definition = parse(await readFile(DEFINITION, 'utf8')) as object
  const defined = await request('POST', DEFINITIONS, definition)
  if (defined.status !== 201)
    throw new Error(`the definition of records is refused: ${JSON.stringify(defined.body)}`)
  await until('records to be known', async () => {
    const { status } = await request('GET', '/apis/pipewright.dev/v1/pipewrightrecords')
    return status === 200
  })
  const resources = stack.move()
  return {
    url,
    token,
    ca,
    kubeconfig: member('KUBECONFIG'),
    request,
    save: () => script('save', folder),
    back: () => script('back', folder),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
