import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from '../kinds/zod.ts'
import { parseListen } from '../config/parsers.ts'
import { makeFolder } from '../ledger/make-folder.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import { FaultMix, FaultRule } from '../sandbox/fault.ts'
import { readWorld } from '../sandbox/world.ts'
import { CommandError, EXIT } from './exit-code.ts'
import type { ExitCode } from './exit-code.ts'
import type { Io } from './io.ts'
import { print } from './io.ts'

export interface SandboxFlags {
  readonly listen: string
  readonly data: string | undefined
  readonly world: string | undefined
  readonly faults: string | undefined
  readonly keyId: string | undefined
  readonly keySecret: string | undefined
  readonly alertsToken: string | undefined
}

/** How the sandbox is to misbehave: rules, or a mix by a seed. */
const FaultsFile = z.strictObject({ rules: z.array(FaultRule).optional(), mix: FaultMix.optional() })

/** `pipewright sandbox`: the platform of the interface as a server of its own, until it is told to stop. */
export async function sandbox(io: Io, flags: SandboxFlags): Promise<ExitCode> {
  const listen = parseListen(flags.listen)
  if (!listen.ok) throw new CommandError(`--listen: ${listen.why}; ${listen.right}`, EXIT.usage)
  const keyId = flags.keyId ?? 'sandbox'
  const keySecret = flags.keySecret ?? randomBytes(12).toString('hex')
  const alertsToken = flags.alertsToken ?? randomBytes(12).toString('hex')
  const faults = flags.faults === undefined ? undefined : await readFaults(flags.faults)
  if (flags.data !== undefined) makeFolder(dirname(resolve(flags.data)))
  await using server = await createSandbox({
    host: listen.value.host,
    port: listen.value.port,
    file: flags.data,
    world: flags.world === undefined ? undefined : await readWorld(flags.world),
    credentials: [{ keyId, keySecret }],
    alertTokens: [alertsToken],
    faults,
  })
  const lines = [
    `The sandbox listens on ${server.url}: give it as --base-url and --alerts-base-url.`,
    `keyId ${keyId}`,
    `keySecret ${flags.keySecret === undefined ? keySecret : '(as given)'}`,
    `alerts token ${flags.alertsToken === undefined ? alertsToken : '(as given)'}`,
  ]
  print(io.stdout, lines.join('\n'))
  await new Promise<void>((stopped) => {
    io.stop.stopping.addEventListener('abort', () => stopped(), { once: true })
    if (io.stop.stopping.aborted) stopped()
  })
  return EXIT.fine
}

async function readFaults(file: string) {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(
      `--faults: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  const faults = FaultsFile.safeParse(parse(text))
  if (!faults.success)
    throw new CommandError(`--faults: ${file}: ${z.prettifyError(faults.error)}`, EXIT.usage)
  const { rules, mix } = faults.data
  return { ...(rules === undefined ? {} : { rules }), ...(mix === undefined ? {} : { mix }) }
}
