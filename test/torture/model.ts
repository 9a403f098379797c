import { type Lineage, renderPipe, SOURCES } from './lineage.ts'
import { CLOUD_SOURCES, firstWish } from './cloud/wish.ts'
import { createVersions } from './cloud/versions.ts'
import type { Scene } from './scene.ts'
import type { Random } from './random.ts'
import {
  ALERT_KEYS,
  PASSWORD_SECRETS,
  renderEndpoint,
  renderGround,
  SERVICES,
  SERVICES_BY_SIZE,
} from './world.ts'

/** What the manifests say, as those think who write them. */
export type Model = ReturnType<typeof createModel>

const FOLDERS = ['payments', 'growth', 'logistics/eu', 'logistics/us', 'platform'] as const

export function createModel(random: Random, scene: Scene) {
  const versions = createVersions()
  const lineages: Lineage[] = []
  const byName = new Map<string, Lineage>()
  const dirty = new Set<string>()
  const origins = new Map<string, string>()
  let ground: string | undefined = renderGround(scene)

  function freshFile(name: string): string {
    const shared = lineages.length > 0 && random.chance(0.2) ? random.pick(lineages) : undefined
    return shared?.file ?? `${random.pick(FOLDERS)}/${name}.${random.chance(0.8) ? 'yaml' : 'yml'}`
  }

  function textOf(file: string): string | undefined {
    const pipes = lineages.filter((lineage) => lineage.present && lineage.file === file)
    return pipes.length === 0 ? undefined : pipes.map(renderPipe).join('---\n')
  }

  const model = {
    lineages,
    origins,
    versions,
    lineage: (platformName: string) => byName.get(platformName),
    /** Makes a new one, with a manifest. */
    add() {
      const platformName = `t-${String(lineages.length).padStart(5, '0')}`
      const name = `p-${lineages.length}`
      const lineage: Lineage = {
        platformName,
        name,
        service: random.weighted(SERVICES_BY_SIZE),
        source: random.pick(SOURCES),
        secret: random.pick(PASSWORD_SECRETS),
        dependsOn: random.chance(0.05) ? random.pick(ALERT_KEYS) : undefined,
        formerNames: new Set(),
        file: freshFile(name),
        present: true,
        flaw: undefined,
        replicas: 1,
        edited: false,
        suspendedUntil: undefined,
        adopt: undefined,
        retryCreate: undefined,
        renamedFrom: undefined,
        recreate: undefined,
        wish: scene.changes ? firstWish(random.pick(CLOUD_SOURCES)) : undefined,
        wasStopped: false,
      }
      lineages.push(lineage)
      byName.set(platformName, lineage)
      dirty.add(lineage.file)
      return lineage
    },
    /** Marks the file of a pipe as changed. */
    touch: (lineage: Lineage) => void dirty.add(lineage.file),
    moveFile(lineage: Lineage, file: string) {
      dirty.add(lineage.file)
      lineage.file = file
      dirty.add(file)
    },
    setOrigins(service: string, text: string) {
      origins.set(service, text)
      dirty.add(endpointFile(service))
    },
    /** The files that changed since the last call, with their whole new text. */
    takeChanges() {
      const changes = new Map<string, string | undefined>()
      if (ground !== undefined) changes.set('ground.yaml', ground)
      ground = undefined
      for (const lineage of lineages) {
        const { platformName, file, present, flaw, wish } = lineage
        // One that is invalid leaves in force what was.
        if (dirty.has(file) && (flaw === undefined || !present))
          versions.note(platformName, present ? wish : undefined)
      }
      for (const file of dirty) {
        const service = SERVICES.find((name) => endpointFile(name) === file)
        changes.set(
          file,
          service === undefined ? textOf(file) : renderEndpoint(service, origins.get(service) ?? '', scene),
        )
      }
      dirty.clear()
      return changes
    },
  }
  for (const service of SERVICES) model.setOrigins(service, `https://${service}.example`)
  return model
}

function endpointFile(service: string): string {
  return `endpoints/${service}.yaml`
}
