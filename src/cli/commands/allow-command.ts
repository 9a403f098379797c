import type { Settings } from '../../config/settings.ts'
import type { Key } from '../../kinds/key.ts'
import { allowCreations } from '../../reconcile/operator/allow.ts'
import { adminTokenOf, callServer, expectObject } from '../server-client.ts'
import { EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { withOperatorContext } from './operator-command.ts'

export const ALLOW_OUTPUTS = ['text', 'json'] as const

/** Keys that one message names. */
const NAMED = 20

/** `pipewright allow`: lets pass, once, what the create limit holds back now; also beside a daemon. */
export async function allow(
  io: Io,
  settings: Settings,
  options: { readonly service: string | undefined; readonly output: (typeof ALLOW_OUTPUTS)[number] },
): Promise<ExitCode> {
  const { service } = options
  const allowed =
    settings.server === undefined
      ? await withOperatorContext(io, settings, { platform: 'not asked', ledger: 'existing' }, (context) =>
          allowCreations(context, service),
        )
      : await askDaemon(io, settings, { server: settings.server, service })
  if (options.output === 'json') printJson(io, { allowed })
  else print(io.stdout, wordsOf(allowed, service))
  return EXIT.fine
}

/** A daemon writes as many records as there are creations, each to the disk: ms. */
const ANSWER_MS = 300_000

async function askDaemon(
  io: Io,
  settings: Settings,
  { server, service }: { readonly server: string; readonly service: string | undefined },
): Promise<readonly Key[]> {
  const command = 'allow'
  const token = await adminTokenOf(settings, command)
  const body = { type: 'application/json', text: JSON.stringify(service === undefined ? {} : { service }) }
  const call = {
    command,
    server,
    method: 'POST',
    path: '-/allow',
    token,
    body,
    timeoutMs: ANSWER_MS,
  } as const
  const { allowed } = expectObject(call, await callServer(io, call))
  return allowed as unknown as readonly Key[] // as the daemon made it
}

function wordsOf(allowed: readonly Key[], service: string | undefined): string {
  const where = service === undefined ? '' : ` in service ${service}`
  if (allowed.length === 0)
    return `The create limit holds nothing back${where}. "pipewright status" shows what needs attention.`
  const rest = allowed.length - NAMED
  const names = allowed.slice(0, NAMED).map((key) => `  ${key}`)
  return [
    `Allowed ${allowed.length} ${allowed.length === 1 ? 'creation' : 'creations'}${where}, once, as their manifests are now:`,
    ...names,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    'The daemon creates them now; without one, "pipewright apply" does. What a later commit adds is not included.',
  ].join('\n')
}
