import type { Settings } from '../../config/settings.ts'
import type { Reply } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import { importedManifest } from '../../kinds/imported.ts'
import type { LeftOut } from '../../kinds/left-out.ts'
import { type Key, nameOf } from '../../kinds/key.ts'
import { nounOf } from '../../kinds/lookup.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import { ResourceName } from '../../kinds/manifest.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { asService, type ServiceManifest } from '../../kinds/service/kind.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import { nearest } from '../../lib/nearest.ts'
import { sentence } from '../../plan/reasons/row.ts'
import { accessOf } from '../../reconcile/gather/service-access.ts'
import { identityOf } from '../../reconcile/state/store.ts'
import { compose, type Engine, loadOnce, openBoard, openSource } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody } from '../io.ts'
import { withComment, writeNew } from '../imported-text.ts'
import { afterAdoption } from '../render/import-text.ts'
import { pipeIdFrom, pipeKeyFrom } from './operator-command.ts'
import { ledgerToRead } from './plan-command.ts'
import { printable } from '../../lib/shown-text.ts'

export const IMPORT_OUTPUTS = ['yaml', 'json'] as const

export interface ImportOptions {
  readonly key: string
  readonly pipeId: string
  /** `metadata.name` of a Service. */
  readonly service: string | undefined
  /** Undefined: it is printed. */
  readonly file: string | undefined
  readonly output: (typeof IMPORT_OUTPUTS)[number]
}

/** `pipewright import Pipe/NAME ID --service NAME`: a manifest that takes over a pipe that exists. Writes nothing but that. */
export async function importPipe(io: Io, settings: Settings, options: ImportOptions): Promise<ExitCode> {
  const key = pipeKeyFrom(options.key, settings)
  const pipeId = pipeIdFrom(options.pipeId, key, settings)
  const name = ResourceName.safeParse(nameOf(key))
  if (!name.success)
    throw new CommandError(
      `import: ${key}: the name ${name.error.issues[0]?.message ?? 'is no name'}.`,
      EXIT.usage,
    )
  if (options.service === undefined)
    throw new CommandError('import: say which Service manifest it belongs to: --service NAME.', EXIT.usage)
  await using stack = new AsyncDisposableStack()
  const engine = await engineToImport(io, settings, stack)
  assertFree(engine, key, pipeId)
  const { value: resource } = await read(io, engine, { key, pipeId, service: options.service })
  const kind = createOnceKindOf(settings.profile, key)
  const secret = secretNamer(engine)(name.data)
  const { service } = options
  const { manifest, leftOut } = importedManifest({
    kind,
    name: name.data,
    service,
    secret,
    resource,
    mask: engine.context.mask,
  })
  if (manifest === undefined) throw noManifest(key, pipeId, leftOut)
  await write(io, { manifest, leftOut }, options)
  return EXIT.fine
}

/** A world that is only read, with the manifests and the ledger as they are. */
export async function engineToImport(
  io: Io,
  settings: Settings,
  stack: AsyncDisposableStack,
): Promise<Engine> {
  const { ledger } = await ledgerToRead(settings)
  stack.use(ledger)
  const source = openSource(settings)
  const parts = {
    settings,
    ledger,
    source,
    board: openBoard(),
    emit: nobody,
    maxCreates: settings.maxCreates,
    sandboxUse: 'look',
    confirm: undefined,
  } as const
  const engine = await compose(parts, stack)
  await loadOnce(engine, io.stop.stopping)
  return engine
}

/** @throws {CommandError} when the pipe, or the key, is another one's */
function assertFree({ context }: Engine, key: Key, pipeId: string): void {
  const { store } = context
  const there = store.catalog?.entries.get(key)
  if (there !== undefined) {
    const { file, line } = there.position
    throw new CommandError(`import: ${key} has a manifest: ${file}:${line}. Give it another name.`)
  }
  for (const record of store.records()) {
    if (sameId(record.remote?.id, pipeId))
      throw new CommandError(`import: ${pipeId} belongs to ${record.key} already.`)
  }
  for (const { key: other, manifest, position } of store.catalog?.entries.values() ?? []) {
    if (sameId(manifest?.policy?.adopt, pipeId))
      throw new CommandError(
        `import: ${pipeId} belongs to ${other} already: ${position.file}:${position.line} adopts it.`,
      )
  }
  for (const [other, id] of store.catalog?.locks ?? []) {
    if (other !== key && sameId(id, pipeId))
      throw new CommandError(`import: ${pipeId} belongs to ${other} already: a Lock says so.`)
    if (other === key && !sameId(id, pipeId))
      throw new CommandError(`import: a Lock says that ${key} is ${id}. Give it another name.`)
  }
}

/** A name of a secret for a pipe: its own, but none that a Service signs in with; no pipe may refer to that. */
export function secretNamer({ context }: Engine): (name: string) => string {
  const taken = new Set(servicesOf(context.store).map(({ spec }) => spec.credentials.secretRef.name))
  return (name) => {
    let free = name
    while (taken.has(free)) free = `${free}-source`
    return free
  }
}

interface Wanted {
  readonly key: Key
  readonly pipeId: string
  readonly service: string
}

/** @throws {CommandError} for a name that is that of no valid manifest */
export function serviceToImport({ context }: Engine, service: string): ServiceManifest {
  const manifest = context.store.service(service)
  if (manifest !== undefined) return manifest
  const near = nearest(
    service,
    servicesOf(context.store).map(({ metadata }) => metadata.name),
  )
  const hint = near === undefined ? 'Write one first.' : `Did you mean ${near}?`
  throw new CommandError(`import: there is no valid manifest of Service/${service}. ${hint}`)
}

export function servicesOf({ catalog }: Engine['context']['store']): readonly ServiceManifest[] {
  return [...(catalog?.entries.values() ?? [])].flatMap(({ manifest }) => asService(manifest) ?? [])
}

/** @throws {CommandError} when it cannot be read */
async function read(
  io: Io,
  engine: Engine,
  { key, pipeId, service }: Wanted,
): Promise<Reply<RemoteResource>> {
  const { context } = engine
  const manifest = serviceToImport(engine, service)
  const access = accessOf(identityOf(manifest), manifest.spec.credentials.secretRef.name)
  const kind = createOnceKindOf(context.profile, key)
  try {
    const target = { kind, service: access, id: pipeId }
    return await context.platform.read(target, { priority: 0, signal: io.stop.stopping })
  } catch (error) {
    if (!(error instanceof RemoteError) && !(error instanceof SecretUnavailableError)) throw error
    throw new CommandError(
      `import: ${kind.noun} ${pipeId} of Service/${service} could not be read. ${sentence(error.message)}`,
    )
  }
}

/** @param leftOut ends with what a manifest must have */
function noManifest(key: Key, pipeId: string, leftOut: readonly LeftOut[]): CommandError {
  const last = leftOut.at(-1)
  const reason = last === undefined ? '' : ` ${last.path} would have to be there. ${last.why}`
  return new CommandError(`import: no manifest can be made of ${nounOf(key)} ${pipeId}.${printable(reason)}`)
}

interface Imported {
  readonly manifest: JsonObject
  readonly leftOut: readonly LeftOut[]
}

async function write(io: Io, { manifest, leftOut }: Imported, options: ImportOptions): Promise<void> {
  const { file, output, key } = options
  if (output === 'json' && file === undefined) {
    const said = leftOut.map((one) => ({ path: one.path, why: one.why }))
    printJson(io, { manifest, leftOut: said, secrets: secretRefsIn(manifest) })
    return
  }
  const text = output === 'json' ? `${JSON.stringify(manifest, undefined, 2)}\n` : withComment(manifest)
  if (file === undefined) print(io.stdout, text)
  else {
    await writeNew(file, text)
    print(io.stdout, `Wrote ${key} to ${file}. Check it with "pipewright validate" and "pipewright plan".`)
  }
  for (const { path, why } of leftOut)
    print(io.stderr, printable(`pipewright: ${path} is left out. ${why}`).replaceAll('\n', ' '))
  print(io.stderr, `pipewright: ${afterAdoption(1)}`)
}
