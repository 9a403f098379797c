import { fineReason } from '../support/fine-reason.ts'
import { conditionMessage } from '../support/messages.ts'
import { retryFrom } from '../../src/plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Run, Runner } from './daemon.ts'
import type { Journal } from './journal.ts'
import { keyOfLineage, type Lineage } from './lineage.ts'
import type { Model } from './model.ts'
import type { PlatformUnderTest } from './platform.ts'
import type { Random } from './random.ts'
import { editAgain } from './cloud/edits.ts'
import type { Scene } from './scene.ts'

/**
 * A person who looks into the console for each pipe whose creation has no known outcome, or that is not found, and says the
 * truth, in its manifest or at the shell; and who answers what Pipewright asks about renames. Words come too early at times.
 */
export type Person = ReturnType<typeof createPerson>

/** `tidy`: everything is dealt with, and nobody waits for proof or for a time that only rules out what cannot be here. */
export type Mood = 'busy' | 'tidy'

export interface PersonParts {
  readonly scene: Scene
  readonly model: Model
  readonly platform: PlatformUnderTest
  readonly runner: Pick<Runner, 'command'>
  readonly journal: Journal
  readonly random: Random
}

/** What is to be said of one pipe. */
type Word =
  | { readonly by: 'manifest'; readonly name: string; readonly what: string }
  | { readonly by: 'shell'; readonly args: readonly string[]; readonly intentId: string | undefined }

/** So long after the request, whatever it did is done: longer than any latency of the platform. */
const PATIENCE_MS = 4_000
/** So long after it was taken a new size is shown, where it was not lost. */
const SHOWN_MS = 15_000
/** A shell command takes its time on a small machine. */
const MOST_COMMANDS = 4

const LOST: ReadonlySet<string | undefined> = new Set(['NeverSeen', 'Missing'])
const NOT_FOUND: ReadonlySet<string | undefined> = new Set([...LOST, 'MissingUnconfirmed', 'MassMissing'])

export function createPerson({ scene, model, platform, runner, journal, random }: PersonParts) {
  const approved = new Set<string>()
  /** Words written while the request could still arrive: intent id → from when on they count, if nobody read them before. */
  const early = new Map<string, number>()
  const readEarly = new Set<string>()
  const unknown = new Map<string, string>()
  const said = new Map<string, number>()

  async function round(records: readonly LedgerRecord[], run: Run | undefined, mood: Mood): Promise<number> {
    platform.drain()
    const byKey = new Map<string, LedgerRecord>(records.map((record) => [record.key, record]))
    let dealt = 0
    let commands = 0
    for (const lineage of model.lineages) {
      const record = byKey.get(keyOfLineage(lineage))
      if (record === undefined) continue
      if (isUnknown(record, run)) unknown.set(record.intent?.id ?? '', lineage.platformName)
      if (record.intent?.saidEarlyAt !== undefined) readEarly.add(record.intent.id)
      if (!lineage.present || (mood === 'busy' && !random.chance(0.4))) continue
      const mayType = commands < MOST_COMMANDS
      const word = wordFor(lineage, record, { run, mood, mayType })
      if (word === undefined) continue
      dealt += 1
      if (word.by === 'manifest') {
        model.touch(lineage)
        note(lineage, word.name, word.what)
      } else {
        commands += 1
        await type(lineage, word)
      }
    }
    return dealt
  }

  function note(lineage: Lineage, name: string, what: string): void {
    said.set(name, (said.get(name) ?? 0) + 1)
    journal.note(lineage.platformName, `person: ${what}`)
  }

  async function type(lineage: Lineage, { args, intentId }: Word & { readonly by: 'shell' }): Promise<void> {
    const flags = args.slice(2).filter((arg) => arg.startsWith('--'))
    if (intentId !== undefined && flags.includes('--retry')) approved.add(intentId)
    note(lineage, flags.join(' '), `types ${args.join(' ')}`)
    const { code, stdout, stderr } = await runner.command(args)
    journal.note(lineage.platformName, `the shell answers ${code}: ${(stdout + stderr).trim().slice(0, 300)}`)
    if (code === 0 || code === 1) return
    journal.violate(
      'process',
      `${args.join(' ')} ended with ${code}: ${stderr.slice(0, 500)}`,
      lineage.platformName,
    )
  }

  function wordFor(
    lineage: Lineage,
    record: LedgerRecord,
    how: { readonly run: Run | undefined; readonly mood: Mood; readonly mayType: boolean },
  ): Word | undefined {
    const synced = record.conditions?.Synced
    if (how.mood === 'tidy' && isGivenUp(record)) {
      editAgain(lineage)
      return inManifest('edits again', `edits it again: ${conditionMessage(synced)}`)
    }
    // A list of all pipes settles it, unless it asks.
    const asked = synced && fineReason(synced)
    if (asked === 'Ambiguous') return answerAmbiguous(lineage)
    if (record.remote !== undefined) {
      const settled = clearSettled(lineage, record.remote.id)
      return settled ?? answerMissing(lineage, record.remote.id, { ...how, reason: synced?.reason })
    }
    if (synced?.reason === 'AdoptRefused' && lineage.adopt !== undefined) {
      lineage.adopt = undefined
      return inManifest('takes adopt back', `takes policy.adopt back: ${conditionMessage(synced)}`)
    }
    if (asked === 'Ambiguous unclaimed') return answerRename(lineage, conditionMessage(synced))
    return isUnknown(record, how.run) ? answerUnknown(lineage, record, how) : undefined
  }

  /** The pipe is not found: is it gone? */
  function answerMissing(
    lineage: Lineage,
    pipeId: string,
    {
      reason,
      mood,
      mayType,
    }: { readonly reason: string | undefined; readonly mood: Mood; readonly mayType: boolean },
  ): Word | undefined {
    const asked = mood === 'tidy' ? NOT_FOUND : LOST
    if (!asked.has(reason) || lineage.recreate === pipeId || isThere(lineage, pipeId)) return undefined
    if (mood === 'busy' && random.chance(0.7)) return undefined
    if (mayType && random.chance(0.3))
      return atShell(['resolve', keyOfLineage(lineage), '--recreate'], undefined)
    lineage.recreate = pipeId
    lineage.adopt = undefined
    return inManifest('recreate', `pipe ${pipeId} is gone: policy.recreate`)
  }

  function answerUnknown(
    lineage: Lineage,
    record: LedgerRecord,
    { mood, mayType }: { readonly mood: Mood; readonly mayType: boolean },
  ): Word | undefined {
    const { intent } = record
    if (intent === undefined) return undefined
    const quietSince = Math.max(intent.openedAt, intent.seen?.at ?? 0)
    if (Date.now() - quietSince < PATIENCE_MS || platform.underWay.has(lineage.platformName)) return undefined
    const [pipe] = platform.alive().get(lineage.platformName) ?? []
    if (pipe !== undefined && scene.changes) return undefined
    if (pipe !== undefined) return adoptWord(lineage, pipe.id, mayType)
    const isEarly = Date.now() < retryFrom(intent) + PATIENCE_MS
    if (lineage.retryCreate === intent.id) {
      // Words that were read too early never count: they have to go, and to be written again.
      if (intent.saidEarlyAt === undefined || isEarly) {
        if (!isEarly) approved.add(intent.id)
        if (mood === 'busy' || intent.saidEarlyAt === undefined) return undefined
      }
      lineage.retryCreate = undefined
      return inManifest('takes retryCreate back', 'takes policy.retryCreate back')
    }
    lineage.adopt = undefined
    // Said early in the manifest, it must not count; at the shell, the person knows that nothing is on its way here.
    if (isEarly && (mood === 'tidy' || random.chance(0.2))) {
      return mayType
        ? atShell(['resolve', keyOfLineage(lineage), '--retry', '--force'], intent.id)
        : undefined
    }
    if (isEarly && random.chance(0.7)) return undefined
    if (isEarly) early.set(intent.id, retryFrom(intent))
    else approved.add(intent.id)
    lineage.retryCreate = intent.id
    const when = isEarly ? 'too early' : 'in time'
    return inManifest(
      `retryCreate ${when}`,
      `there is no such pipe: policy.retryCreate ${intent.id}, ${when}`,
    )
  }

  function answerAmbiguous(lineage: Lineage): Word | undefined {
    const [pipe] = platform.alive().get(lineage.platformName) ?? []
    return pipe === undefined ? undefined : adoptWord(lineage, pipe.id, false)
  }

  function adoptWord(lineage: Lineage, pipeId: string, mayType: boolean): Word | undefined {
    if (lineage.adopt === pipeId) return undefined
    if (mayType && lineage.adopt === undefined && random.chance(0.1))
      return atShell(['resolve', keyOfLineage(lineage), '--adopt', pipeId], undefined)
    lineage.adopt = pipeId
    lineage.retryCreate = undefined
    lineage.recreate = undefined
    return inManifest('adopt', `there it is: policy.adopt ${pipeId}`)
  }

  function isThere({ platformName }: Lineage, pipeId: string): boolean {
    return (
      platform
        .alive()
        .get(platformName)
        ?.some(({ id }) => id === pipeId) === true
    )
  }

  function answerRename(lineage: Lineage, message: string): Word | undefined {
    const from = /policy\.renamedFrom: (Pipe\/\S+?)[;,.]?\s/.exec(`${message} `)?.[1]
    const own = from !== undefined && lineage.formerNames.has(from.slice('Pipe/'.length))
    if (!own) {
      journal.violate(
        'unsettled',
        `suspected to be ${from ?? 'something'}, with which it has nothing in common: ${message}`,
        lineage.platformName,
      )
      return undefined
    }
    if (lineage.renamedFrom === from) return undefined
    lineage.renamedFrom = from
    return inManifest('renamedFrom', `policy.renamedFrom ${from}`)
  }

  return {
    /** What the person was asked about: intent id → name of the pipe. */
    unknown,
    /** How often each word was said. */
    said,
    /** One round over all pipes. @returns how many were dealt with */
    round,
    /** Whether the person had said by `at` (ms since the epoch) that this attempt created nothing, and not too early. */
    approved: (intentId: string, at: number) =>
      approved.has(intentId) || ((early.get(intentId) ?? Infinity) <= at && !readEarly.has(intentId)),
  }
}

/** Words that did what they were for are taken out again. */
function clearSettled(lineage: Lineage, pipeId: string): Word | undefined {
  const { adopt, retryCreate, renamedFrom, recreate } = lineage
  const isOver = recreate !== undefined && recreate !== pipeId
  if ((adopt ?? retryCreate ?? renamedFrom) === undefined && !isOver) return undefined
  lineage.adopt = undefined
  lineage.retryCreate = undefined
  lineage.renamedFrom = undefined
  if (isOver) lineage.recreate = undefined
  return inManifest('clears', 'clears what is settled from the policy')
}

/** It was sent, and did not take effect, or was refused at rest: that is not tried again soon. */
function isGivenUp({ conditions, change }: LedgerRecord): boolean {
  const { reason, facts, since = 0 } = conditions?.Synced ?? {}
  if (facts !== undefined && 'after' in facts && facts.after === 'stopped') return true
  // The service took it, and did nothing: a size is waited for, for minutes.
  if (reason === 'Changing' && change?.isSent === true) return Date.now() - since > SHOWN_MS
  return reason === 'Stalled' || (reason === 'BackingOff' && change?.refused !== undefined)
}

function inManifest(name: string, what: string): Word {
  return { by: 'manifest', name, what }
}

function atShell(args: readonly string[], intentId: string | undefined): Word {
  return { by: 'shell', args, intentId }
}

/** An intent that is open because a process is at it right now is not unknown. */
export function isUnknown({ remote: pipe, intent }: LedgerRecord, run: Run | undefined): boolean {
  if (pipe !== undefined || intent === undefined) return false
  if (intent.state === 'unknown') return true
  return intent.state === 'open' && (run === undefined || intent.openedAt < run.startedAt)
}
