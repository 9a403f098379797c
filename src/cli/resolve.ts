import type { Settings } from '../config/settings.ts'
import { adoptAs } from '../reconcile/person-adopt.ts'
import { retryCreate } from '../reconcile/person-retry.ts'
import type { ExitCode } from './exit-code.ts'
import type { Io } from './io.ts'
import { pipeIdFrom, pipeKeyFrom, runPersonCommand, type PersonCommand } from './person-command.ts'

export interface ResolveOptions {
  readonly key: string
  /** What the person found: the pipe with this id, or that nothing was created. */
  readonly found: { readonly pipeId: string } | 'nothing'
  readonly output: PersonCommand['output']
}

/** `pipewright resolve Pipe/NAME --adopt ID | --retry`: settles a create of unknown outcome. */
export async function resolve(io: Io, settings: Settings, options: ResolveOptions): Promise<ExitCode> {
  const { found, output } = options
  const key = pipeKeyFrom(options.key)
  if (found === 'nothing') {
    const command: PersonCommand = { key, output, platform: 'not asked', ledger: 'existing' }
    return runPersonCommand(io, settings, command, (deps) => retryCreate(deps, key))
  }
  const pipeId = pipeIdFrom(found.pipeId)
  const command: PersonCommand = { key, output, platform: 'asked', ledger: 'existing' }
  return runPersonCommand(io, settings, command, (deps, signal) =>
    adoptAs(deps, { key, pipeId, word: 'resolve' }, signal),
  )
}
