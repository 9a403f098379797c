import type { Settings } from '../../config/settings.ts'
import { systemClock } from '../../daemon/system-clock.ts'
import { untieLedger } from '../../ledger/open.ts'
import { forgetKey } from '../../reconcile/operator/forget.ts'
import { openLedgerAs } from '../compose.ts'
import { EXIT, type ExitCode, type Io, print, printJson, nobody } from '../io.ts'
import { assertLasting, keyFrom, runPersonCommand, type PersonCommand } from './operator-command.ts'

/** `pipewright forget KEY`: gives up the record of an orphan; its pipe's id stays in the history. */
export async function forget(
  io: Io,
  settings: Settings,
  options: { readonly key: string; readonly output: PersonCommand['output'] },
): Promise<ExitCode> {
  const key = keyFrom(options.key)
  const command: PersonCommand = { key, output: options.output, platform: 'not asked', ledger: 'existing' }
  return runPersonCommand(io, settings, command, (context) => forgetKey(context, key))
}

/** `pipewright forget --platform`: the platform has another address now; the next owner ties the ledger to it. */
export async function forgetPlatform(
  io: Io,
  settings: Settings,
  output: PersonCommand['output'],
): Promise<ExitCode> {
  assertLasting(settings)
  await (await openLedgerAs('reader', settings, nobody))[Symbol.asyncDispose]()
  const platform = await untieLedger(settings.ledger, { clock: systemClock, emit: nobody })
  const message =
    platform === undefined
      ? 'The ledger is tied to no platform; the next "pipewright run" or "apply" ties it to the one it is started with.'
      : `The ledger is no longer tied to ${platform}; the next "pipewright run" or "apply" ties it to the one it is started with.`
  if (output === 'json') printJson(io, { result: 'done', platform, message })
  else print(io.stdout, message)
  return EXIT.fine
}
