import { join } from 'node:path'
import { runWell, tool } from './tools.ts'

const MINUTES = 60_000

/** What an image says of itself, as far as tests look at it. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly StopSignal: string
  readonly ExposedPorts: Readonly<Record<string, unknown>>
  readonly Volumes?: Readonly<Record<string, unknown>>
  readonly Labels: Readonly<Record<string, string>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

/** buildah with a store of its own: no daemon, no registry, nothing of the machine's images. */
export type Buildah = ReturnType<typeof createBuildah>

/** @param context the folder to build from */
export function createBuildah(store: string, context: string) {
  const buildah = tool('buildah')
  const call = (...args: readonly string[]) =>
    runWell(
      buildah,
      ['--root', join(store, 'root'), '--runroot', join(store, 'run'), '--storage-driver', 'vfs', ...args],
      { cwd: context, limitMs: 5 * MINUTES },
    )
  const inspect = async (name: string) => {
    const { Docker } = JSON.parse(await call('inspect', '--type', 'image', name)) as {
      Docker: { config: ImageConfig; rootfs: { diff_ids: readonly string[] } }
    } // the shape of buildah's own report
    return Docker
  }
  return {
    async commitFolder(folder: string, name: string) {
      const container = (await call('from', 'scratch')).trim()
      await call('copy', '--quiet', container, folder, '/')
      await call(
        'config',
        '--env',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        container,
      )
      await call('commit', '--quiet', container, name)
      await call('rm', container)
    },
    /** Builds the Dockerfile. @returns digests of its layers, the base's first */
    async build(name: string, args: Readonly<Record<string, string>>) {
      const given = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
      // A health check is known to Docker's format alone. The time stamp takes the clock out of the layers.
      const flags = ['--format', 'docker', '--layers=false', '--timestamp', '0']
      await call('bud', '--isolation', 'chroot', '--pull-never', ...flags, ...given, '--tag', name, '.')
      return (await inspect(name)).rootfs.diff_ids
    },
    config: async (name: string) => (await inspect(name)).config,
    /** Lays an image out. @returns the folder, which a container's root would be */
    async layOut(name: string) {
      const container = (await call('from', '--pull-never', name)).trim()
      return (await call('mount', container)).trim()
    },
  }
}
