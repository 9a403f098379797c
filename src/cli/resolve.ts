import type { Settings } from '../config/settings.ts'
import { adoptAs } from '../reconcile/person-adopt.ts'
import { recreatePipe } from '../reconcile/person-recreate.ts'
import { retryCreate } from '../reconcile/person-retry.ts'
import type { ExitCode } from './exit-code.ts'
import type { Io } from './io.ts'
import { pipeIdFrom, pipeKeyFrom, runPersonCommand, type PersonCommand } from './person-command.ts'

/** What the person found out. */
export type Found =
  /** The pipe with this id is that of the key. */
  | { readonly type: 'pipe'; readonly pipeId: string }
  /** The create made nothing. */
  | { readonly type: 'nothing'; readonly force: boolean }
  /** The pipe of the key is gone. */
  | { readonly type: 'gone' }

export interface ResolveOptions {
  readonly key: string
  readonly found: Found
  readonly output: PersonCommand['output']
}

/** `pipewright resolve Pipe/NAME --adopt ID | --retry | --recreate`: what a person found out settles what nobody else can. */
export async function resolve(io: Io, settings: Settings, options: ResolveOptions): Promise<ExitCode> {
  const { found, output } = options
  const key = pipeKeyFrom(options.key)
  const command: PersonCommand = { key, output, platform: 'asked', ledger: 'existing' }
  switch (found.type) {
    case 'nothing':
      return runPersonCommand(io, settings, { ...command, platform: 'not asked' }, (deps) =>
        retryCreate(deps, key, found),
      )
    case 'gone':
      return runPersonCommand(io, settings, command, (deps, signal) => recreatePipe(deps, key, signal))
    case 'pipe': {
      const pipeId = pipeIdFrom(found.pipeId)
      return runPersonCommand(io, settings, command, (deps, signal) =>
        adoptAs(deps, { key, pipeId, word: 'resolve' }, signal),
      )
    }
  }
}
