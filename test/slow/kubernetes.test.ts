import { randomUUID } from 'node:crypto'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { describeClusterLedger, type Cluster } from '../kubernetes/cluster-contract.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { withRealApi, type RealApi } from '../kubernetes/real-api.ts'
import { describeLedger } from '../ledger/ledger-contract.ts'
import { describeLeadership } from '../ledger/leadership-contract.ts'
import type { Workspace } from '../support/workspace.ts'

/* What is promised of a ledger in a cluster, at a real API; test/kubernetes has the same at a model of it. */

const RECORDS = '/apis/pipewright.dev/v1/namespaces/default/pipewrightrecords'

let api: RealApi
let workspace: Workspace

withRealApi((...given) => {
  ;[api, workspace] = given
})

describeClusterLedger('a cluster', startNew)
describeLeadership('kubernetes: in a cluster', startNew)
describeLedger('kubernetes: in a cluster', async (emit) => {
  return (await openAt(api, workspace, { place: newName(), emit })).ledger
})

async function startNew(): Promise<Cluster> {
  const name = newName()
  return {
    name,
    clock: systemClock,
    create: async (object) => (await api.request('POST', RECORDS, object)).status,
    open: (options) => openAt(api, workspace, { place: name, ...options }),
    async [Symbol.asyncDispose]() {}, // it ends with the API
  }
}

function newName(): string {
  return `l-${randomUUID().slice(0, 8)}`
}
