import type { Notes } from '../contract/ledger.ts'
import type { Problem } from '../contract/view.ts'
import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { z } from '../kinds/zod.ts'
import { parseJson } from '../lib/json.ts'
import { parseReason, type Reason } from '../plan/reason.ts'
import { SEVERITIES } from '../plan/severity.ts'

export type WebhookMemory = Awaited<ReturnType<typeof openMemory>>

const Memory = z.strictObject({
  version: z.literal(2),
  problems: z.array(
    z.strictObject({
      id: z.string(),
      cause: z.string(),
      reason: z.string(),
      severity: z.enum(SEVERITIES),
      service: z.string().optional(),
      keys: z.array(z.string()),
      since: z.number(),
      state: z.string(),
    }),
  ),
})

/** @throws {LedgerError} */
export async function openMemory(notes: Notes) {
  const text = await notes.read()
  const data = text === undefined ? undefined : Memory.safeParse(parseJson(text)).data
  const before: readonly Problem[] = data?.problems.flatMap(problemIn) ?? []
  const isUnusable = text !== undefined && data === undefined
  return {
    before,
    unusable: isUnusable ? 'it is damaged, or of another version' : undefined,
    save: (problems: readonly Problem[]) => notes.write(`${JSON.stringify({ version: 2, problems })}\n`),
  }
}

/** Drops a problem if this version of Pipewright does not know its reason or resources. */
function problemIn({
  reason: name,
  keys: names,
  service,
  ...facts
}: z.infer<typeof Memory>['problems'][number]): readonly Problem[] {
  const reason: Reason | undefined = parseReason(name)
  const keys: readonly Key[] = names.flatMap((key) => knownKey(key) ?? [])
  return reason === undefined || keys.length === 0 ? [] : [{ ...facts, service, reason, keys }]
}
