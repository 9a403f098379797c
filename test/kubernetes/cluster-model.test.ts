import { describeLeadership } from '../ledger/leadership-contract.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { createWorkspace } from '../support/workspace.ts'
import { startApiModel } from './api-model.ts'
import { describeClusterLedger, type Cluster } from './cluster-contract.ts'
import { openAt } from './open-at.ts'

describeClusterLedger('a model of the Kubernetes API', startModelled)
describeLeadership('kubernetes:', startModelled)

async function startModelled(): Promise<Cluster> {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await startApiModel())
  const workspace = stack.use(createWorkspace())
  const clock = createTurningClock()
  const resources = stack.move()
  return {
    name: 'ledger',
    clock,
    open: (options) => openAt(model, workspace, { clock, ...options }),
    async create(object) {
      const headers = { authorization: `Bearer ${model.token}`, 'content-type': 'application/json' }
      const url = `${model.url}/apis/pipewright.dev/v1/namespaces/default/pipewrightrecords`
      return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(object) })).status
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
