import { nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { attemptFacts, undecidedIntent } from '../../plan/outcome-unknown.ts'
import { attemptWords } from '../../plan/reasons/unknown.ts'
import { isKnownGone } from '../../plan/gates.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { OperatorResult } from '../../contract/person-command.ts'
import {
  type OperatorContext,
  done,
  stillSending,
  withRecord,
  refused,
  stillOnItsWay,
  historyLine,
} from './operator.ts'

export function forgetKey(context: OperatorContext, key: Key): Promise<OperatorResult> {
  return withRecord(context, key, async (recorded) => {
    if (recorded.version === 0) return refused(`The ledger has no record of ${key}: it cannot be forgotten.`)
    const wanted = stillWanted(context, recorded)
    if (wanted !== undefined) return refused(wanted)
    const intent = undecidedIntent(recorded)
    // A returning manifest is created.
    const wait = intent && (stillSending(context, key, intent) ?? stillOnItsWay(context, key, intent))
    if (wait !== undefined) return refused(wait)
    const left = whatIsLeft(recorded)
    await context.ledger.remove(recorded, [
      historyLine(context, recorded, {
        action: 'forget',
        reason: 'Orphaned',
        result: 'done',
        message: `Forgotten by an operator. ${left}`,
      }),
    ])
    return done(recorded, `Forgot ${key}. ${left} A manifest of that name counts as new.`)
  })
}

/** The next reconcile would create the pipe again. */
function stillWanted({ store }: OperatorContext, recorded: LedgerRecord): string | undefined {
  const { key } = recorded
  const entry = store.entry(key)
  const { catalog } = store
  const instead = `Remove the manifest first. To pause it instead, run "pipewright suspend ${key}".`
  if (entry !== undefined && entry.state !== 'missing') {
    const { file, line } = entry.position
    return `${key} has a manifest, at ${file}:${line}, so it would be created again. ${instead}`
  }
  if (catalog?.problem !== undefined) {
    return `It is not known whether ${key} has a manifest. ${catalog.problem.message}`
  }
  if (store.desiredState(key) !== 'absent') {
    return `It is not known whether ${key} has a manifest: some files could not be read completely. Run "pipewright validate".`
  }
  if (isKnownGone(recorded)) return undefined
  const place = recorded.file === undefined ? 'in a manifest' : `at ${recorded.file}:${recorded.line ?? 1}`
  return (
    `${key} is not Orphaned yet: the last reconcile found it ${place}, and now there is no manifest. Check that --manifests names ` +
    'the directory that the daemon reads. If it does, wait until "pipewright status" shows it as Orphaned, or run ' +
    '"pipewright apply". Then run this again.'
  )
}

/** Ids that might remain on the platform, for the history. */
function whatIsLeft(recorded: LedgerRecord): string {
  const intent = undecidedIntent(recorded)
  if (recorded.remote !== undefined) {
    const where = recorded.service === undefined ? '' : ` in service ${recorded.service.serviceId}`
    const isAsked = recorded.removal?.isSent === true
    const fate = isAsked
      ? 'whose deletion was requested, and which might still exist'
      : 'which is not deleted'
    return `Its ${nounOf(recorded.key)} was ${recorded.remote.id}${where}, ${fate}.`
  }
  if (intent !== undefined) {
    const former =
      recorded.former === undefined
        ? ''
        : ` Before, its ${nounOf(recorded.key)} was ${recorded.former.remote.id}.`
    return `A ${nounOf(recorded.key)} may have been created: the create was ${attemptWords(attemptFacts(intent))}.${former}`
  }
  if (recorded.upsert !== undefined) return 'All applied values remain.'
  return 'The platform has no such resource.'
}
