import type { Settings } from '../../config/settings.ts'
import { isLockable, nounOf } from '../../kinds/lookup.ts'
import { stringify } from 'yaml'
import { LOCK, LockedId, MOST_LOCKED, type LockManifest } from '../../kinds/lock/schema.ts'
import { API_VERSION, ResourceName } from '../../kinds/manifest.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { openLedgerToRead, sayMoved } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, misuse } from '../io.ts'
import { assertLasting } from './operator-command.ts'
import { warn } from '../render/terminal.ts'

/** Fails if a pipe cannot be included, because a lost ledger would then create it a second time. */
export async function lock(
  io: Io,
  settings: Settings,
  options: { readonly name: string; readonly output: 'yaml' | 'json' },
): Promise<ExitCode> {
  assertLasting(settings)
  const name = ResourceName.safeParse(options.name)
  if (!name.success) {
    misuse(`--name ${options.name}: it ${name.error.issues[0]?.message ?? 'is no name'}.`)
  }
  await using ledger = await openLedgerToRead(settings, io.clock)
  sayMoved(io, ledger, settings)
  const records = (await ledger.list()).filter((record) => isLockable(record.key))
  const problems = records.flatMap((record) => problemOf(record) ?? [])
  for (const problem of problems) warn(io, problem, settings)
  const manifests = locksOf(records, name.data)
  if (manifests.length === 0)
    throw new CommandError('The ledger has no pipe. If it was lost, keep the last Lock.')
  if (options.output === 'json') {
    if (manifests.length > 1)
      throw new CommandError(`JSON holds one Lock. These pipes need ${manifests.length}: use "-o yaml".`)
    printJson(io, manifests[0])
  } else {
    const texts = manifests.map((each) => stringify(each))
    print(io.stdout, `# Save it among the manifests, as ${name.data}.lock.yaml.\n${texts.join('---\n')}`)
  }
  return problems.length === 0 ? EXIT.fine : EXIT.failed
}

function locksOf(records: readonly LedgerRecord[], name: string): readonly LockManifest[] {
  const pipes = records.flatMap(({ key, remote }) =>
    remote !== undefined && LockedId.safeParse(remote.id).success ? [[key, remote.id] as const] : [],
  )
  return Array.from({ length: Math.ceil(pipes.length / MOST_LOCKED) }, (_, index) => ({
    apiVersion: API_VERSION,
    kind: LOCK.name,
    metadata: { name: index === 0 ? name : `${name}-${index + 1}` },
    spec: { pipes: Object.fromEntries(pipes.slice(index * MOST_LOCKED, (index + 1) * MOST_LOCKED)) },
  }))
}

function problemOf(record: LedgerRecord): string | undefined {
  const { key, remote } = record
  if (remote !== undefined) {
    if (LockedId.safeParse(remote.id).success) return undefined
    return `${key} is not in the Lock: its ${nounOf(key)} has the id "${remote.id}", which is no UUID. Back up the ledger, because only it has this id.`
  }
  const intent = undecidedIntent(record)
  if (intent === undefined) return undefined
  return (
    `${key} is not in the Lock: it is unknown whether its ${nounOf(key)} was created. Resolve it as "pipewright status ${key}" ` +
    `says, then run this command again (intent ${intent.id}).`
  )
}
