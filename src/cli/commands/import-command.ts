import type { Settings } from '../../config/settings.ts'
import { isRequestError } from '../../reconcile/apply/outcome-of-error.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { isListable } from '../../reconcile/gather/listing.ts'
import { importedManifest, manifestNames } from '../../kinds/imported.ts'
import { type Key, keyOf, kindOf, nameOf } from '../../kinds/key.ts'
import { ResourceName } from '../../kinds/manifest.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import { ODD, oddItemsOf, type RemoteResource } from '../../kinds/remote-resource.ts'
import { asService, type ServiceManifest } from '../../kinds/service/kind.ts'
import { sameId } from '../../lib/same-id.ts'
import { mightHaveResource } from '../../plan/gates.ts'
import { sentence } from '../../plan/reasons/row.ts'
import { accessOf } from '../../reconcile/gather/service-access.ts'
import { pipeOwners } from '../../reconcile/state/pipe-owners.ts'
import type { StateStore } from '../../reconcile/state/store.ts'
import { didYouMean, keyFrom } from '../command-context.ts'
import { composeToLook, type Engine, openSource } from '../compose.ts'
import { type Imported, writeManifests, importReport, type Surveyed } from '../imported-manifests.ts'
import { CommandError, EXIT, type ExitCode, type Io, misuse } from '../io.ts'
import { warn } from '../render/terminal.ts'
import { mistakeIn } from '../../reconcile/operator/operate.ts'
import { ledgerToRead } from './plan-command.ts'

interface ImportFlags {
  readonly all?: true
  readonly service?: string
  readonly outputDir?: string
  readonly output: 'yaml' | 'json'
}

export async function importPipes(
  io: Io,
  settings: Settings,
  flags: ImportFlags,
  word?: string,
  id?: string,
): Promise<ExitCode> {
  const wanted =
    flags.all === true ? allFrom(settings, flags, [word, id]) : oneFrom(settings, flags, [word, id])
  await using stack = new AsyncDisposableStack()
  const { ledger } = await ledgerToRead(settings, io.clock)
  stack.use(ledger)
  const source = openSource(settings)
  const engine = await composeToLook(io, { settings, ledger, source, accept: 'force' }, stack)
  const { mask, store } = engine.context
  const { surveys, pipes } =
    'key' in wanted
      ? { surveys: [], pipes: [await readOne(io, engine, wanted)] }
      : await surveyAll(io, engine, wanted)
  const all = pipes.map(({ resource, ...pipe }): Imported => {
    const secret = secretName(store, nameOf(pipe.key))
    const about = { kind: wanted.kind, name: nameOf(pipe.key), service: pipe.service, secret, resource, mask }
    return { ...pipe, pipeId: resource.id, name: mask.mask(resource.name ?? ''), ...importedManifest(about) }
  })
  const problems = await writeManifests(io, all, flags)
  const report = importReport({
    surveys,
    all,
    folder: flags.outputDir,
    problems,
    manifests: settings.manifests,
  })
  for (const line of report) warn(io, line, settings)
  const isWhole = surveys.every((survey) => !('problem' in survey)) && problems.length === 0
  return isWhole && all.every(({ manifest }) => manifest !== undefined) ? EXIT.fine : EXIT.failed
}

interface One extends Pick<Imported, 'key' | 'pipeId' | 'service'> {
  readonly kind: CreateOnceKind
}

function oneFrom(
  settings: Settings,
  { service }: ImportFlags,
  [word, id]: readonly (string | undefined)[],
): One {
  if (word === undefined || id === undefined || service === undefined)
    misuse('import: give KEY, PIPE_ID and --service NAME. Or give --all.')
  const key = keyFrom(word)
  const mistake = mistakeIn(settings.profile, { command: 'adopt', key, pipeId: id })
  if (mistake !== undefined) misuse(mistake)
  const name = ResourceName.safeParse(nameOf(key))
  if (!name.success) misuse(`import: ${key}: the name ${name.error.issues[0]?.message ?? 'is no name'}.`)
  const kind = createOnceKindOf(settings.profile, key)
  return { kind, key, pipeId: id.toLowerCase(), service }
}

function allFrom({ profile }: Settings, flags: ImportFlags, [word, id]: readonly (string | undefined)[]) {
  if (id !== undefined || word?.includes('/') === true || (word !== undefined && flags.service !== undefined))
    misuse('import: --all takes no key and no pipe id. Give the name of one Service at most.')
  const kind = profile.kinds.find(isListable)
  if (kind !== undefined) return { kind, service: word ?? flags.service }
  const hint = 'Import one resource at a time: "pipewright import KEY ID --service NAME".'
  misuse(`import: this platform does not list its pipes. ${hint}`)
}

interface Found {
  readonly key: Key
  readonly service: string
  readonly resource: RemoteResource
}

async function readOne(io: Io, { context }: Engine, one: One): Promise<Found> {
  const { kind, key, pipeId, service } = one
  assertFree(context.store, one)
  const target = { kind, service: accessOf(serviceNamed(context.store, service)), id: pipeId }
  const { value: resource } = await context.platform
    .read(target, { priority: 0, signal: io.stop.stopping })
    .catch((error: unknown) => {
      const what = `${kind.noun} ${pipeId} of Service/${service} could not be read`
      throw new CommandError(unansweredWords(what, error))
    })
  return { key, service, resource }
}

function unansweredWords(what: string, error: unknown): string {
  if (!isRequestError(error)) throw error
  return `import: ${what}. ${sentence(error.message)}`
}

function assertFree(store: StateStore, { kind, key, pipeId }: One): void {
  const placeOf = (owner: Key) => {
    const position = store.catalog?.entries.get(owner)?.position
    return position === undefined ? '' : `: ${position.file}:${position.line}`
  }
  if (store.catalog?.entries.has(key) === true)
    throw new CommandError(`import: ${key} has a manifest${placeOf(key)}. Use another name.`)
  const locks = [...(store.catalog?.locks ?? [])]
  const owner =
    pipeOwners(store, kind).namedBy(pipeId) ??
    locks.find(([other, id]) => other !== key && sameId(id, pipeId))?.[0]
  if (owner !== undefined)
    throw new CommandError(`import: ${pipeId} belongs to ${owner} already${placeOf(owner)}.`)
  const locked = store.catalog?.locks.get(key)
  if (locked !== undefined && !sameId(locked, pipeId))
    throw new CommandError(`import: a Lock assigns ${key} to ${locked}. Use another name.`)
  const record = store.record(key)
  if (record !== undefined && mightHaveResource(record))
    throw new CommandError(`import: ${key} has a record of another ${kind.noun}. Use another name.`)
}

async function surveyAll(
  io: Io,
  { context }: Engine,
  { kind, service }: { readonly kind: CreateOnceKind; readonly service: string | undefined },
) {
  const { store, mask, platform } = context
  const services = service === undefined ? servicesOf(store) : [serviceNamed(store, service)]
  if (services.length === 0)
    throw new CommandError('import: there is no valid manifest of a Service. Write one first.')
  const held = pipeOwners(store, kind)
  const surveys: Surveyed[] = []
  const free = new Map<string, Omit<Found, 'key'>>() // two Services can share one platform service
  for (const each of services.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { name } = each.metadata
    const listed = await platform
      .list(kind, accessOf(each), { priority: 0, signal: io.stop.stopping })
      .catch((error: unknown) =>
        unansweredWords(`the ${kind.noun}s of Service/${name} could not be listed`, error),
      )
    if (typeof listed === 'string') {
      surveys.push({ service: name, problem: listed })
      continue
    }
    const readable = listed.value.filter((resource) => resource[ODD] === undefined)
    const byId = new Map(readable.map((resource) => [resource.id.toLowerCase(), resource]))
    const pipes = [...byId.values()].toSorted(inOrder)
    const others = pipes.filter(({ id }) => held.namedBy(id) === undefined)
    const wanted = others.flatMap((pipe) => {
      const key = held.wantedBy(pipe, each.spec.serviceId)
      return key === undefined ? [] : [{ id: pipe.id, name: mask.mask(pipe.name ?? ''), key }]
    })
    for (const resource of others.filter(({ id }) => wanted.every((one) => one.id !== id)))
      if (!free.has(resource.id.toLowerCase()))
        free.set(resource.id.toLowerCase(), { service: name, resource })
    const counts = { there: pipes.length, held: pipes.length - others.length }
    surveys.push({ service: name, ...counts, wanted, odd: oddItemsOf(listed.value) })
  }
  const problems = surveys.flatMap((survey) => ('problem' in survey ? [survey.problem] : []))
  if (problems.length === surveys.length) throw new CommandError(problems.join('\n'))
  return { surveys, pipes: withKeys(context, kind, [...free.values()]) }
}

function inOrder(a: RemoteResource, b: RemoteResource): number {
  const [first = '', second = ''] = [a, b].map(({ name, createdAt, id }) => [name, createdAt, id].join('\0'))
  return first < second ? -1 : 1
}

function withKeys(
  { store, mask }: Engine['context'],
  kind: CreateOnceKind,
  pipes: readonly Omit<Found, 'key'>[],
): readonly Found[] {
  const { entries, locks } = store.catalog ?? {}
  const recorded = new Set([...store.records()].filter(mightHaveResource).map(({ key }) => key))
  const free = [...(locks ?? [])].filter(([key]) => !recorded.has(key))
  const locked = new Map(free.map(([key, id]) => [id.toLowerCase(), key]))
  const unlocked = pipes.flatMap(({ resource: { id, name } }) =>
    locked.has(id.toLowerCase()) ? [] : [{ id, name: mask.mask(name ?? '') }],
  )
  const known = [...(entries?.keys() ?? []), ...locked.values(), ...recorded]
  const taken = known.filter((key) => kindOf(key) === kind.name).map(nameOf)
  const names = manifestNames(unlocked, new Set(taken)).values()
  const newKey = () => keyOf(kind.name, names.next().value ?? '') // one name per pipe
  return pipes.map((pipe) => ({ ...pipe, key: locked.get(pipe.resource.id.toLowerCase()) ?? newKey() }))
}

/** Adds `-source` if the name is taken by a Service's credentials, because a pipe cannot use such credentials. */
function secretName(store: StateStore, name: string): string {
  const taken = new Set(servicesOf(store).map(({ spec }) => spec.credentials.secretRef.name))
  let free = name
  while (taken.has(free)) free = `${free}-source`
  return free
}

function serviceNamed(store: StateStore, service: string): ServiceManifest {
  const manifest = store.service(service)
  if (manifest !== undefined) return manifest
  const names = servicesOf(store).map(({ metadata }) => metadata.name)
  const hint = didYouMean(service, names, 'Write one first.')
  throw new CommandError(`import: there is no valid manifest of Service/${service}. ${hint}`)
}

function servicesOf({ catalog }: StateStore): readonly ServiceManifest[] {
  return [...(catalog?.entries.values() ?? [])].flatMap(({ manifest }) => asService(manifest) ?? [])
}
