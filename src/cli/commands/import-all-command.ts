import type { Settings } from '../../config/settings.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { importedManifest } from '../../kinds/imported.ts'
import { keyOf } from '../../kinds/key.ts'
import type { LeftOut } from '../../kinds/left-out.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import type { ServiceManifest } from '../../kinds/service/kind.ts'
import { secretRefsIn } from '../../kinds/secret-ref.ts'
import type { JsonObject } from '../../lib/json.ts'
import { printable } from '../../lib/shown-text.ts'
import { sentence } from '../../plan/reasons/row.ts'
import { accessOf } from '../../reconcile/gather/service-access.ts'
import { identityOf } from '../../reconcile/state/store.ts'
import type { Engine } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import {
  engineToImport,
  freeSecretName,
  type ImportOptions,
  serviceToImport,
  servicesOf,
  withComment,
  writeNew,
} from './import-command.ts'

/** A pipe without a manifest, and the one that it gets. */
interface Imported {
  readonly key: string
  readonly pipeId: string
  readonly name: string
  /** Undefined: none can be made. */
  readonly manifest: JsonObject | undefined
  readonly leftOut: readonly LeftOut[]
}

/**
 * `pipewright import --all [--service NAME]`: a manifest for each pipe that is there and has none. Writes nothing but that.
 * @throws {CommandError} when the platform has no list, or cannot be asked
 */
export async function importAll(
  io: Io,
  settings: Settings,
  { service, file, output }: Pick<ImportOptions, 'service' | 'file' | 'output'>,
): Promise<ExitCode> {
  const kind = settings.profile.kinds.find(isListed)
  if (kind === undefined) {
    const one = '"pipewright import KEY ID --service NAME"'
    throw new CommandError(
      `import: this platform does not list its pipes. Import one at a time: ${one}.`,
      EXIT.usage,
    )
  }
  await using stack = new AsyncDisposableStack()
  const engine = await engineToImport(io, settings, stack)
  const services =
    service === undefined ? servicesOf(engine.context.store) : [serviceToImport(engine, service)]
  if (services.length === 0)
    throw new CommandError('import: there is no valid manifest of a Service. Write one first.')
  const all: Imported[] = []
  const held = heldIds(engine)
  const names = new Set([...(engine.context.store.catalog?.entries.keys() ?? [])].map(String))
  for (const each of services) {
    for (const { value: resource, echoes } of await listed(io, engine, kind, each)) {
      if (held.has(resource.id.toLowerCase())) continue
      held.add(resource.id.toLowerCase())
      const name = freeName(resource, kind, names)
      const secret = freeSecretName(engine, name)
      const { manifest, leftOut } = importedManifest({
        kind,
        name,
        service: each.metadata.name,
        secret,
        resource,
        echoes,
      })
      all.push({
        key: keyOf(kind.name, name),
        pipeId: resource.id,
        name: resource.name ?? '',
        manifest,
        leftOut: leftOut.filter(({ isNothing }) => isNothing !== true),
      })
    }
  }
  return show(io, all, { file, output })
}

function isListed(kind: Settings['profile']['kinds'][number]): kind is CreateOnceKind {
  return kind.lifecycle === 'create-once' && kind.operations.list !== undefined
}

/** Pipes that have a manifest, or a record. */
function heldIds({ context }: Engine): Set<string> {
  const { store } = context
  const ids = [
    ...[...store.records()].flatMap(({ remote, former }) => [remote?.id, former?.remote.id]),
    ...[...(store.catalog?.entries.values() ?? [])].map(({ manifest }) => manifest?.policy?.adopt),
    ...(store.catalog?.locks.values() ?? []),
  ]
  return new Set(ids.flatMap((id) => (id === undefined ? [] : [id.toLowerCase()])))
}

async function listed(io: Io, { context }: Engine, kind: CreateOnceKind, service: ServiceManifest) {
  const access = accessOf(identityOf(service), service.spec.credentials.secretRef.name)
  try {
    const options = { priority: 0, signal: io.stop.stopping } as const
    const { value, ...reply } = await context.platform.list(kind, access, options)
    return value.map((resource) => ({ ...reply, value: resource }))
  } catch (error) {
    if (!(error instanceof RemoteError) && !(error instanceof SecretUnavailableError)) throw error
    const name = service.metadata.name
    throw new CommandError(
      `import: the ${kind.noun}s of Service/${name} could not be listed. ${sentence(error.message)}`,
    )
  }
}

/** Its name there, as a manifest can have it, and no other manifest has it. */
function freeName({ id, name }: RemoteResource, { name: kind }: CreateOnceKind, taken: Set<string>): string {
  const plain = (name ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
    .replace(/[-.]+$/, '')
  const wanted = plain === '' ? `pipe-${id.slice(0, 8).toLowerCase()}` : plain
  let free = wanted
  for (let number = 2; taken.has(keyOf(kind, free)); number += 1) free = `${wanted}-${number}`
  taken.add(keyOf(kind, free))
  return free
}

async function show(
  io: Io,
  all: readonly Imported[],
  { file, output }: Pick<ImportOptions, 'file' | 'output'>,
): Promise<ExitCode> {
  const made = all.flatMap(({ manifest, ...rest }) => (manifest === undefined ? [] : [{ ...rest, manifest }]))
  const code = made.length === all.length ? EXIT.fine : EXIT.failed
  if (output === 'json') {
    const said = all.map(({ leftOut, manifest, ...rest }) => ({
      ...rest,
      manifest,
      leftOut: leftOut.map(({ path, why }) => ({ path, why })),
      secrets: manifest === undefined ? [] : secretRefsIn(manifest),
    }))
    if (file === undefined) printJson(io, said)
    else await writeNew(file, `${JSON.stringify(said, undefined, 2)}\n`)
    return code
  }
  const text = made.map(({ manifest }) => withComment(manifest)).join('---\n')
  if (file === undefined) print(io.stdout, text)
  else if (made.length > 0) await writeNew(file, text)
  const where =
    file === undefined || made.length === 0
      ? ''
      : ` to ${file}. Check it with "pipewright validate" and "pipewright plan"`
  print(
    io.stderr,
    `pipewright: ${made.length} of ${all.length} pipes without a manifest were written${where}.`,
  )
  for (const { key, pipeId, name, manifest, leftOut } of all) {
    const about = `${key} (${pipeId}, "${name}")`
    for (const { path, why } of leftOut) print(io.stderr, line(`${about}: ${path} is left out. ${why}`))
    if (manifest === undefined)
      print(io.stderr, line(`${about}: no manifest can be made of it. Write one, with policy.adopt.`))
  }
  return code
}

function line(text: string): string {
  return `pipewright: ${printable(text)}`.replaceAll('\n', ' ')
}
