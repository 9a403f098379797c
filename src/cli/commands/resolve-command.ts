import type { Settings } from '../../config/settings.ts'
import { adoptAs } from '../../reconcile/operator/adopt.ts'
import { approveRecreate } from '../../reconcile/operator/recreate.ts'
import { retryCreate } from '../../reconcile/operator/retry.ts'
import type { ExitCode, Io } from '../io.ts'
import { pipeIdFrom, pipeKeyFrom, runPersonCommand, type PersonCommand } from './operator-command.ts'

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
      return runPersonCommand(io, settings, { ...command, platform: 'not asked' }, (context) =>
        retryCreate(context, key, found),
      )
    case 'gone':
      return runPersonCommand(io, settings, command, (context, signal) =>
        approveRecreate(context, key, signal),
      )
    case 'pipe': {
      const pipeId = pipeIdFrom(found.pipeId)
      return runPersonCommand(io, settings, command, (context, signal) =>
        adoptAs(context, { key, pipeId, word: 'resolve' }, signal),
      )
    }
  }
}
