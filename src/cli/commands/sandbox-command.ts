import { randomBytes } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { aborted } from '../../lib/clock.ts'
import { named, parseListen } from '../../config/parsers.ts'
import { PROFILES } from '../../kinds/profiles/profiles.ts'
import { makeFolder } from '../../ledger/location.ts'
import { createSandbox } from '../../sandbox/sandbox-server.ts'
import { FaultsFile } from '../../sandbox/faults.ts'
import { readFixture } from '../../sandbox/fixture.ts'
import { readSandboxFile } from '../../sandbox/wire-schema.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, misuse } from '../io.ts'

interface SandboxFlags {
  readonly profile: string
  readonly listen: string
  readonly data: string | undefined
  readonly world: string | undefined
  readonly faults: string | undefined
  readonly keyId: string | undefined
  readonly keySecret: string | undefined
  readonly alertsToken: string | undefined
}

export async function sandbox(io: Io, flags: SandboxFlags): Promise<ExitCode> {
  const listen = parseListen(flags.listen)
  if (!listen.ok) misuse(`--listen: ${listen.why}; ${listen.right}`)
  const profile = named(PROFILES)(flags.profile)
  if (!profile.ok) misuse(`--profile: ${profile.why}; ${profile.right}`)
  const keyId = flags.keyId ?? 'sandbox'
  const keySecret = flags.keySecret ?? randomBytes(12).toString('hex')
  const alertsToken = flags.alertsToken ?? randomBytes(12).toString('hex')
  const faults = flags.faults === undefined ? undefined : await readSandboxFile(flags.faults, FaultsFile)
  if (flags.data !== undefined) makeFolder(dirname(resolve(flags.data)))
  await using server = await createSandbox({
    profile: profile.value,
    host: listen.value.host,
    port: listen.value.port,
    file: flags.data,
    fixture: flags.world === undefined ? undefined : await readFixture(flags.world, profile.value),
    credentials: [{ keyId, keySecret }],
    alertTokens: [alertsToken],
    faults,
  }).catch((error: unknown) => {
    if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) throw error
    throw new CommandError(`sandbox: cannot listen: ${error.message}. Give another address with --listen.`)
  })
  const lines = [
    `The sandbox listens on ${server.url}: give it as --base-url and --alerts-base-url.`,
    `keyId ${keyId}`,
    `keySecret ${flags.keySecret === undefined ? keySecret : '(as given)'}`,
    `alerts token ${flags.alertsToken === undefined ? alertsToken : '(as given)'}`,
  ]
  print(io.stdout, lines.join('\n'))
  await aborted(io.stop.stopping)
  return EXIT.fine
}
