import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Run } from './daemon.ts'
import type { Journal } from './journal.ts'
import type { Lineage } from './lineage.ts'
import { keyOfLineage } from './lineage.ts'
import type { Model } from './model.ts'
import type { PlatformUnderTest } from './platform.ts'

/**
 * A person who looks into the console for each pipe whose creation has no known outcome, and says the truth in its
 * manifest; and who answers what Pipewright asks about renames.
 */
export interface Person {
  /** One round over all pipes. @param takes whether this one is dealt with now @returns how many were dealt with */
  round(records: readonly LedgerRecord[], run: Run | undefined, takes: () => boolean): number
  /** Intents said to have created nothing. */
  readonly approved: ReadonlySet<string>
  /** What the person was asked about: intent id → name of the pipe. */
  readonly unknown: ReadonlyMap<string, string>
}

/** So long after the request, whatever it did is done: longer than any latency of the platform. */
const PATIENCE_MS = 4_000

export function createPerson(model: Model, platform: PlatformUnderTest, journal: Journal): Person {
  const approved = new Set<string>()
  const unknown = new Map<string, string>()

  return {
    approved,
    unknown,
    round(records, run, takes) {
      platform.drain()
      const alive = platform.alive()
      const byKey = new Map<string, LedgerRecord>(records.map((record) => [record.key, record]))
      let dealt = 0
      for (const lineage of model.lineages) {
        const record = byKey.get(keyOfLineage(lineage))
        if (record === undefined) continue
        if (isUnknown(record, run)) unknown.set(record.intent?.id ?? '', lineage.platformName)
        if (!lineage.present || !takes()) continue
        const said = answer(lineage, record, run, alive.get(lineage.platformName)?.map(({ id }) => id) ?? [])
        if (said === undefined) continue
        dealt += 1
        model.touch(lineage)
        journal.note(lineage.platformName, `person: ${said}`)
      }
      return dealt
    },
  }

  function answer(
    lineage: Lineage,
    record: LedgerRecord,
    run: Run | undefined,
    pipes: readonly string[],
  ): string | undefined {
    const synced = record.conditions?.Synced
    if (
      record.pipe !== undefined &&
      (lineage.adopt ?? lineage.retryCreate ?? lineage.renamedFrom) !== undefined
    ) {
      lineage.adopt = undefined
      lineage.retryCreate = undefined
      lineage.renamedFrom = undefined
      return 'clears what is settled from the policy'
    }
    if (synced?.reason === 'AdoptRefused' && lineage.adopt !== undefined) {
      lineage.adopt = undefined
      return `takes policy.adopt back: ${synced.message}`
    }
    if (synced?.reason === 'RenameSuspected') return answerRename(lineage, synced.message)
    const intent = record.intent
    if (intent === undefined || !isUnknown(record, run)) return undefined
    const quietSince = Math.max(intent.openedAt, intent.seen?.at ?? 0)
    if (Date.now() - quietSince < PATIENCE_MS || platform.underWay.has(lineage.platformName)) return undefined
    const [pipe] = pipes
    if (pipe === undefined) {
      if (lineage.retryCreate === intent.id) return undefined
      lineage.retryCreate = intent.id
      lineage.adopt = undefined
      approved.add(intent.id)
      return `there is no such pipe: policy.retryCreate ${intent.id}`
    }
    if (lineage.adopt === pipe) return undefined
    lineage.adopt = pipe
    lineage.retryCreate = undefined
    return `there it is: policy.adopt ${pipe}`
  }

  function answerRename(lineage: Lineage, message: string): string | undefined {
    const from = /policy\.renamedFrom: (Pipe\/\S+?)[;,.]?\s/.exec(`${message} `)?.[1]
    const own = from !== undefined && lineage.formerNames.has(from.slice('Pipe/'.length))
    if (!own) {
      journal.violate({
        law: 'unsettled',
        subject: lineage.platformName,
        what: `suspected to be ${from ?? 'something'}, with which it has nothing in common: ${message}`,
      })
      return undefined
    }
    if (lineage.renamedFrom === from) return undefined
    lineage.renamedFrom = from
    return `policy.renamedFrom ${from}`
  }
}

/** An intent that is open because a process is at it right now is not unknown. */
export function isUnknown({ pipe, intent }: LedgerRecord, run: Run | undefined): boolean {
  if (pipe !== undefined || intent === undefined) return false
  if (intent.state === 'unknown') return true
  return intent.state === 'open' && (run === undefined || intent.openedAt < run.startedAt)
}
