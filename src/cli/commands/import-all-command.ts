import type { Settings } from '../../config/settings.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { importedManifest } from '../../kinds/imported.ts'
import { keyOf, kindOf, nameOf, type Key } from '../../kinds/key.ts'
import { manifestNames } from '../../kinds/manifest-names.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'
import type { ServiceManifest } from '../../kinds/service/kind.ts'
import type { SecretMask } from '../../lib/mask/secret-mask.ts'
import { sentence } from '../../plan/reasons/row.ts'
import { accessOf } from '../../reconcile/gather/service-access.ts'
import { heldPipes, type HeldPipes } from '../../reconcile/state/held-pipes.ts'
import { identityOf } from '../../reconcile/state/store.ts'
import { commandContext } from '../command-context.ts'
import type { Engine } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print } from '../io.ts'
import { readBack, writeAll, type Imported } from '../imported-files.ts'
import { importSummary, type Surveyed } from '../render/import-text.ts'
import {
  engineToImport,
  type IMPORT_OUTPUTS,
  secretNamer,
  serviceToImport,
  servicesOf,
} from './import-command.ts'

interface ImportAllOptions {
  /** `metadata.name` of a Service. Undefined: all of them. */
  readonly service: string | undefined
  /** Where each manifest becomes a file. Undefined: they are printed. */
  readonly folder: string | undefined
  readonly output: (typeof IMPORT_OUTPUTS)[number]
}

/**
 * `pipewright import --all [SERVICE]`: a manifest for each pipe without one. It changes nothing except the files that it writes.
 * @throws {CommandError} if the platform has no list, no service answers, or a file is in the way
 */
export async function importAll(
  io: Io,
  settings: Settings,
  { service, folder, output }: ImportAllOptions,
): Promise<ExitCode> {
  const kind = settings.profile.kinds.find(isListed)
  if (kind === undefined) throw noList()
  await using stack = new AsyncDisposableStack()
  const engine = await engineToImport(io, settings, stack)
  const surveys: Survey[] = []
  for (const each of servicesToAsk(engine, service)) surveys.push(await surveyOf(io, engine, kind, each))
  if (surveys.every(({ problem }) => problem !== undefined))
    throw new CommandError(`import: ${surveys.flatMap(({ problem }) => problem ?? []).join('\n')}`)
  const all = manifestsOf(engine, kind, divided(surveys))
  await writeAll(io, all, { folder, output })
  const { entries } = engine.context.store.catalog ?? {}
  const summary = importSummary({
    surveys: surveys.map((survey) => ({ ...survey, free: survey.free.length })),
    all,
    folder,
    invalid: [...(entries?.values() ?? [])].filter(({ state }) => state === 'invalid').length,
    here: commandContext(settings),
  })
  for (const line of summary) print(io.stderr, `pipewright: ${line}`)
  const isWhole = surveys.every(({ problem }) => problem === undefined)
  return isWhole && all.every(({ text }) => text !== undefined) ? EXIT.fine : EXIT.failed
}

function isListed(kind: Settings['profile']['kinds'][number]): kind is CreateOnceKind {
  return kind.lifecycle === 'create-once' && kind.operations.list !== undefined
}

function noList(): CommandError {
  const one = 'Import one at a time: "pipewright import KEY ID --service NAME".'
  return new CommandError(`import: this platform does not list its pipes. ${one}`, EXIT.usage)
}

/** In the order of their names. @throws {CommandError} when there is none */
function servicesToAsk(engine: Engine, service: string | undefined): readonly ServiceManifest[] {
  if (service !== undefined) return [serviceToImport(engine, service)]
  const services = servicesOf(engine.context.store)
  if (services.length === 0)
    throw new CommandError('import: there is no valid manifest of a Service. Write one first.')
  return services.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** A pipe as the list has it. */
interface Listed {
  readonly resource: RemoteResource
  /** Its name there, as it may be shown. */
  readonly name: string
  readonly mask: SecretMask
}

/** A service, and whose its pipes are. */
interface Survey extends Omit<Surveyed, 'free'> {
  readonly free: readonly Listed[]
}

async function surveyOf(
  io: Io,
  engine: Engine,
  kind: CreateOnceKind,
  service: ServiceManifest,
): Promise<Survey> {
  const nothing = { service: service.metadata.name, there: 0, held: 0, wanted: [], free: [], odd: [] }
  const access = accessOf(identityOf(service), service.spec.credentials.secretRef.name)
  try {
    const options = { priority: 0, signal: io.stop.stopping } as const
    const { mask } = engine.context
    const { value } = await engine.context.platform.list(kind, access, options)
    const readable = value.filter((resource) => resource[ODD] === undefined)
    const pipes = readable.map((resource) => ({ resource, name: mask.mask(resource.name ?? ''), mask }))
    const odd = oddItemsOf(value)
    return { ...nothing, odd, ...sorted(pipes, heldPipes(engine.context.store, kind), access.serviceId) }
  } catch (error) {
    if (!(error instanceof RemoteError) && !(error instanceof SecretUnavailableError)) throw error
    const what = `the ${kind.noun}s of Service/${service.metadata.name} could not be listed.`
    return { ...nothing, problem: `${what} ${sentence(error.message)}` }
  }
}

/** By their names, and of one name by when they were made: the same order each time. */
function sorted(
  pipes: readonly Listed[],
  held: HeldPipes,
  serviceId: string,
): Pick<Survey, 'there' | 'held' | 'wanted' | 'free'> {
  const wanted: { readonly id: string; readonly name: string; readonly key: Key }[] = []
  const free: Listed[] = []
  for (const pipe of pipes.toSorted(inOrder)) {
    const { id } = pipe.resource
    if (held.namedBy(id) !== undefined) continue
    const key = held.wantedBy(pipe.resource, serviceId)
    if (key === undefined) free.push(pipe)
    else wanted.push({ id, name: pipe.name, key })
  }
  return { there: pipes.length, held: pipes.length - wanted.length - free.length, wanted, free }
}

function inOrder(a: Listed, b: Listed): number {
  return orderOf(a) < orderOf(b) ? -1 : 1
}

function orderOf({ name, resource: { id, createdAt } }: Listed): string {
  return [name, createdAt ?? '', id].join('\0')
}

interface Placed extends Listed {
  readonly service: string
}

/** Each pipe once: two Services may be the same one there. */
function divided(surveys: readonly Survey[]): readonly Placed[] {
  const all = surveys.flatMap(({ service, free }) => free.map((pipe) => ({ ...pipe, service })))
  const seen = new Map(all.toReversed().map((pipe) => [pipe.resource.id.toLowerCase(), pipe]))
  return all.filter((pipe) => seen.get(pipe.resource.id.toLowerCase()) === pipe)
}

function manifestsOf(engine: Engine, kind: CreateOnceKind, pipes: readonly Placed[]): readonly Imported[] {
  const names = namesFor(engine, kind, pipes)
  const secretFor = secretNamer(engine)
  return pipes.map(({ resource, mask, service, name: there }, index) => {
    const name = names[index] ?? '' // there is one for each
    const fitted = importedManifest({ kind, name, service, secret: secretFor(name), resource, mask })
    const about = { key: keyOf(kind.name, name), pipeId: resource.id, name: there }
    return { ...about, service, ...readBack(engine.context.profile, fitted) }
  })
}

/** A Lock may say already which key a pipe is to have. */
function namesFor(
  { context: { store } }: Engine,
  kind: CreateOnceKind,
  pipes: readonly Placed[],
): readonly string[] {
  const { entries, locks } = store.catalog ?? {}
  const locked = [...(locks ?? [])].filter(([key]) => entries?.has(key) !== true)
  const lockedNames = new Map(locked.map(([key, id]) => [id.toLowerCase(), nameOf(key)]))
  const asked = pipes.map(({ resource: { id }, name }) => ({
    id,
    name: lockedNames.get(id.toLowerCase()) ?? name,
  }))
  const mine = new Set(pipes.flatMap(({ resource: { id } }) => lockedNames.get(id.toLowerCase()) ?? []))
  const taken = [...(entries?.keys() ?? []), ...locked.map(([key]) => key)]
  const names = taken.filter((key) => kindOf(key) === kind.name).map(nameOf)
  return manifestNames(asked, new Set(names.filter((name) => !mine.has(name))))
}
