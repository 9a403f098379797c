import { afterEach, beforeEach } from 'vitest'
import { createTurningClock } from '../support/turning-clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { OpenedLedger } from '../../src/contract/ledger.ts'
import type { KubernetesLedgerOptions } from '../../src/ledger/kubernetes/open-kubernetes-ledger.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { startApiModel, type ApiModel, type Asked, type Mishap } from './api-model.ts'
import { openAt, writeKubeconfig } from './open-at.ts'

/** A model of the API for each test of a file, to which `KUBECONFIG` leads, and ledgers in it that are closed with the test. */
export interface ModelForEach {
  readonly api: ApiModel
  /** Of all ledgers of the file. */
  readonly clock: Clock
  readonly workspace: Workspace
  readonly open: (options?: Partial<KubernetesLedgerOptions>) => Promise<OpenedLedger>
  /** The next request of this kind has a mishap, once. */
  readonly once: (method: string, part: string, mishap: Mishap) => void
  /** Where the object is whose path has this part. */
  readonly pathOf: (part: string) => string
  /** Writes an object past the API: nobody hears of it; undefined deletes it. */
  readonly put: (path: string, object: object | undefined) => void
}

export function modelForEach(): ModelForEach {
  let api: ApiModel
  let workspace: Workspace
  let opened: AsyncDisposableStack
  const clock = createTurningClock()
  const { KUBECONFIG } = process.env

  beforeEach(async () => {
    api = await startApiModel()
    workspace = createWorkspace()
    process.env['KUBECONFIG'] = writeKubeconfig(api, workspace)
    opened = new AsyncDisposableStack()
  })

  afterEach(async () => {
    process.env['KUBECONFIG'] = KUBECONFIG
    api.interfere(undefined)
    await opened.disposeAsync()
    workspace[Symbol.dispose]()
    await api[Symbol.asyncDispose]()
  })

  return {
    clock,
    get api() {
      return api
    },
    get workspace() {
      return workspace
    },
    async open(options = {}) {
      const made = await openAt(api, workspace, { clock, ...options })
      opened.use(made.ledger)
      return made
    },
    once(method, part, mishap) {
      let left = 1
      api.interfere((asked) => (isOf(asked, method, part) && left-- > 0 ? mishap : undefined))
    },
    pathOf(part) {
      const path = [...api.objects().keys()].find((each) => each.includes(part))
      if (path === undefined) throw new Error(`there is no ${part}`)
      return path
    },
    put(path, object) {
      const objects = api.objects() as Map<string, object>
      if (object === undefined) objects.delete(path)
      else objects.set(path, object)
    },
  }
}

export function isOf(asked: Asked, method: string, part: string): boolean {
  return asked.method === method && asked.path.includes(part)
}
