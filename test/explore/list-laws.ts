import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import { valueAt, type JsonObject } from '../../src/lib/json.ts'
import { sameId } from '../../src/lib/same-id.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { recordOf } from './laws.ts'
import { keyOfWish, shortId, type Model } from './model.ts'
import type { Process, Run } from './run.ts'

/* What a list rules out: a create under a name that it shows, or of the source and the destination of a pipe without a manifest. */

/** The source that a pipe reads, and where it writes. */
const IDENTITY = [
  'source.kafka.brokers',
  'source.kafka.topics',
  'destination.database',
  'destination.table',
] as const

/** A create is about to go out. */
export function judgeListed(
  run: Run,
  process: Process,
  create: { readonly serviceId: string; readonly text: string; readonly intentId: string },
): void {
  const { model, broken } = run
  const body = JSON.parse(create.text) as JsonObject // ours
  const creating = recordOf(model, create)
  for (const there of lastList(run, process, create.serviceId)) {
    const holder = holderOf(model, there.id)
    if (creating === undefined || isMeantBeside(model, creating, holder?.key ?? there.id)) continue
    const isNamed = there.name === body['name']
    const isNew = creating.former === undefined
    if (!isNamed && !(isNew && isWithoutManifest(model, holder) && isSame(body, there as JsonObject)))
      continue
    const what = isNamed ? `the name "${String(there.name)}"` : 'the source and the destination'
    broken.push(`A create goes out with ${what} of pipe ${shortId(there.id)}, which the last list shows.`)
  }
}

/** The last list that a process got: in this step, or before. */
function lastList({ lists, model }: Run, process: Process, serviceId: string): readonly RemoteResource[] {
  const now = lists.get(process)?.get(serviceId)
  if (now !== undefined) return now
  const before = (model.memory.listings ?? []).filter(([name]) =>
    name.startsWith(`Pipe ${serviceId.toLowerCase()} `),
  )
  return before.flatMap(([, { items }]) => [...items.values()])
}

function holderOf({ records }: Model, id: string): LedgerRecord | undefined {
  return [...records.values()].find(
    ({ remote, former }) => sameId(remote?.id, id) || sameId(former?.remote.id, id),
  )
}

function isWithoutManifest(model: Model, holder: LedgerRecord | undefined): boolean {
  return (
    holder === undefined || !model.wishes.some((wish) => wish.isPresent && keyOfWish(wish) === holder.key)
  )
}

/** Whether one of two manifests says that it is another pipe than that of the other one. */
function isMeantBeside(model: Model, creating: LedgerRecord, other: string): boolean {
  return model.wishes.some(
    (wish) =>
      (keyOfWish(wish) === creating.key && wish.policy['replaces'] === other) ||
      (keyOfWish(wish) === other && wish.policy['replaces'] === creating.key),
  )
}

function isSame(asked: JsonObject, there: JsonObject): boolean {
  return IDENTITY.every((path) => valueAt(asked, path) === valueAt(there, path))
}
