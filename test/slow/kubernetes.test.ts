import { randomUUID } from 'node:crypto'
import { describeClusterLedger, type Cluster } from '../kubernetes/cluster-contract.ts'
import { openAt, type Place } from '../kubernetes/open-at.ts'
import { describeLedger } from '../ledger/ledger-contract.ts'
import { describeLeadership } from '../ledger/leadership-contract.ts'
import { createWorkspace } from '../support/workspace.ts'

const place: Place = {
  url: process.env['KUBE_SERVER'] ?? '',
  token: process.env['KUBE_TOKEN'] ?? '',
  ca: process.env['KUBE_CA'] ?? '',
}

describeClusterLedger('a cluster', startNew)
describeLeadership('kubernetes: in a cluster', startNew)
describeLedger('kubernetes: in a cluster', async (emit) => {
  const workspace = createWorkspace()
  return (await openAt(place, workspace, { place: `l-${randomUUID().slice(0, 8)}`, emit })).ledger
})

async function startNew(): Promise<Cluster> {
  const workspace = createWorkspace()
  const name = `l-${randomUUID().slice(0, 8)}`
  return {
    open: (options) => openAt(place, workspace, { place: name, ...options }),
    async [Symbol.asyncDispose]() {
      workspace[Symbol.dispose]()
    },
  }
}
