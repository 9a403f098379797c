import type { Settings } from '../../config/settings.ts'
import { adoptAs } from '../../reconcile/operator/adopt.ts'
import type { ExitCode, Io } from '../io.ts'
import { pipeIdFrom, pipeKeyFrom, runPersonCommand, type PersonCommand } from './operator-command.ts'

export interface AdoptOptions {
  readonly key: string
  readonly pipeId: string
  readonly output: PersonCommand['output']
}

/**
 * `pipewright adopt Pipe/NAME ID`: takes over a pipe that exists. For a pipe that the key has already, it says that
 * what the manifest asks for was set in the console.
 */
export async function adopt(io: Io, settings: Settings, options: AdoptOptions): Promise<ExitCode> {
  const key = pipeKeyFrom(options.key)
  const pipeId = pipeIdFrom(options.pipeId)
  const command: PersonCommand = { key, output: options.output, platform: 'asked', ledger: 'open' }
  return runPersonCommand(io, settings, command, (context, signal) =>
    adoptAs(context, { key, pipeId, word: 'adopt' }, signal),
  )
}
